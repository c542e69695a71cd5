package dev.saccade.parity;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Segmentation;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.PairwiseIou;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** IoU for evaluation, of boxes as x, y, width, height. */
final class BoxOverlaps {

    private BoxOverlaps() {}

    /** Returns the IoU matrix, one row per detection. */
    static NumpyArray of(
            List<List<Double>> found, List<List<Double>> objects, List<Integer> crowd) {
        CocoDetections.Builder detections = new CocoDetections.Builder();
        found.forEach(
                box ->
                        detections.add(
                                1,
                                0,
                                new Annotation.Bbox(box.get(0), box.get(1), box.get(2), box.get(3)),
                                1));
        List<Annotation> annotations = new ArrayList<>();
        for (int i = 0; i < objects.size(); i++) {
            annotations.add(annotation(i, objects.get(i), crowd.get(i) == 1));
        }
        GroundTruth groundTruth = GroundTruth.collect(new OneImage(annotations), IouType.BOX);
        PairwiseIou iou = PairwiseIou.of(IouType.BOX, groundTruth, detections.build());
        double[] overlaps = new double[found.size() * objects.size()];
        Arrays.setAll(overlaps, i -> iou.iou(i / objects.size(), i % objects.size()));
        return NumpyArray.of(overlaps);
    }

    private static Annotation annotation(int id, List<Double> box, boolean crowd) {
        Annotation.Bbox where = new Annotation.Bbox(box.get(0), box.get(1), box.get(2), box.get(3));
        return new Annotation(
                id,
                0,
                where,
                where.area(),
                new Segmentation.None(),
                crowd ? Set.of(Annotation.Flag.CROWD) : Set.of());
    }

    /** A data set with one image and one class. */
    private record OneImage(List<Annotation> objects) implements Dataset {

        @Override
        public List<String> classes() {
            return List.of("thing");
        }

        @Override
        public List<ImageFile> images() {
            return List.of(new ImageFile(1, Path.of("1.png"), new Size(100, 100)));
        }

        @Override
        public List<Annotation> annotations(int index) {
            return objects;
        }
    }
}
