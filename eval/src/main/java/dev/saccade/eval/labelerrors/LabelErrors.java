package dev.saccade.eval.labelerrors;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.Dataset;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.ImageIndex;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.PairwiseIou;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Suspected label errors of a data set, most suspicious first, with at most one per object.
 *
 * <p>The detections must come from models that were not trained on the same images, such as the
 * validation set of a run, or the held-out folds of a cross-validation. Only images with detections
 * are inspected, by their boxes; crowds are never suspected.
 *
 * @param inspected number of images with detections
 */
public record LabelErrors(List<LabelError> suspects, int inspected) {

    /** Less suspicious labels are left out. */
    public static final double MIN_SCORE = 0.1;

    public LabelErrors {
        suspects = ImmutableList.copyOf(suspects);
    }

    /** Compares all labels with detections, for example from {@code CocoResults.read}. */
    public static LabelErrors find(Dataset dataset, CocoDetections detections) {
        return find(GroundTruth.collect(dataset, IouType.BOX), detections);
    }

    /** Compares all labels with detections. */
    public static LabelErrors find(GroundTruth groundTruth, CocoDetections detections) {
        groundTruth.requireMatching(detections);
        PairwiseIou ious = PairwiseIou.of(IouType.BOX, groundTruth, detections);
        ImageIndex index = new ImageIndex(groundTruth, detections);
        List<ImageComparison> images = new ArrayList<>();
        for (int image = 0; image < index.size(); image++) {
            if (index.detections(image).length > 0) {
                images.add(
                        new ImageComparison(
                                groundTruth,
                                detections,
                                ious,
                                image,
                                index.objects(image),
                                index.detections(image)));
            }
        }
        List<ClassStatistics> statistics = new ArrayList<>();
        groundTruth.classes().forEach(name -> statistics.add(new ClassStatistics()));
        images.forEach(image -> image.addTo(statistics));
        Suspicion suspicion = Suspicion.of(statistics);
        List<LabelError> suspects = new ArrayList<>();
        images.forEach(image -> suspects.addAll(image.suspects(suspicion)));
        suspects.removeIf(suspect -> suspect.score() < MIN_SCORE);
        suspects.sort(Comparator.comparingDouble(LabelError::score).reversed());
        return new LabelErrors(suspects, images.size());
    }
}
