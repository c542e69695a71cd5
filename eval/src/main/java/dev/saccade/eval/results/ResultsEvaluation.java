package dev.saccade.eval.results;

import com.google.common.collect.Iterables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.eval.MetricReport;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.detection.DetectionReport;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.eval.segmentation.SegmentationReport;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Evaluates results of any tool: a COCO result file or a folder of label maps.
 *
 * @param score minimum score of detections in the confusion matrix
 * @param reduceZeroLabel whether 0 in label maps means no class; inferred if empty
 */
public record ResultsEvaluation(
        Path results,
        Path annotations,
        DetectionEvaluator.Config config,
        double score,
        Optional<Boolean> reduceZeroLabel) {

    private static final int MAX_LISTED = 5;

    /** Evaluates the results; throws if they do not match the annotations. */
    public MetricReport evaluate() {
        for (Path path : List.of(results, annotations)) {
            if (!Files.exists(path)) {
                throw SaccadeException.user("%s: no such file or folder", path);
            }
        }
        if (Files.isDirectory(results) != Files.isDirectory(annotations)) {
            throw SaccadeException.user(
                    "results %s and annotations %s: got a file and a folder; expected two JSON"
                            + " files, or two folders of label maps",
                    results, annotations);
        }
        return Files.isDirectory(results) ? labelMaps() : detections();
    }

    private MetricReport detections() {
        // Images are not read, so their paths need not exist.
        Path root = annotations.toAbsolutePath().getRoot();
        Dataset dataset = CocoDataset.open(annotations, root, List.of());
        CocoDetections found = CocoResults.read(results, dataset);
        List<String> notes = new ArrayList<>();
        noteMissing(notes, dataset, found);
        boolean masks = found.size() > 0 && found.hasMasks();
        if (masks && !hasMasks(dataset)) {
            notes.add(annotations + " has no masks; only boxes are evaluated");
            masks = false;
        }
        noteUnits(notes, dataset, found);
        int threads = Runtime.getRuntime().availableProcessors();
        DetectionEvaluation evaluation =
                DetectionEvaluation.compute(dataset, found, config, masks, threads);
        return DetectionReport.of(evaluation, Map.of(), score, Optional.empty(), notes);
    }

    private static void noteMissing(List<String> notes, Dataset dataset, CocoDetections found) {
        Set<Long> missing = new TreeSet<>();
        dataset.images().forEach(image -> missing.add(image.id()));
        IntStream.range(0, found.size()).forEach(i -> missing.remove(found.imageId(i)));
        if (!missing.isEmpty()) {
            notes.add(
                    Text.format(
                            "%d of %d images have no results, so their objects count as missed;"
                                    + " image ids: %s%s",
                            missing.size(),
                            dataset.size(),
                            Iterables.limit(missing, MAX_LISTED),
                            missing.size() > MAX_LISTED ? " and more" : ""));
        }
    }

    /** Adds notes if boxes look like corners or fractions, or scores like percentages. */
    private static void noteUnits(List<String> notes, Dataset dataset, CocoDetections found) {
        Map<Long, Integer> widths = new HashMap<>();
        dataset.images().forEach(image -> widths.put(image.id(), image.size().width()));
        int outside = 0;
        int fractions = 0;
        double highest = 0;
        for (int i = 0; i < found.size(); i++) {
            Annotation.Bbox box = found.box(i);
            double right = box.x() + box.width();
            outside += right > widths.get(found.imageId(i)) + 1 ? 1 : 0;
            fractions += right <= 1 && box.y() + box.height() <= 1 ? 1 : 0;
            highest = Math.max(highest, found.score(i));
        }
        if (outside > found.size() / 4) {
            notes.add(
                    Text.format(
                            "%d of %d boxes extend beyond their image; expected bbox to be [x,"
                                    + " y, width, height]",
                            outside, found.size()));
        }
        if (found.size() > 0 && fractions == found.size()) {
            notes.add(
                    "all boxes are smaller than 1 pixel, like fractions; expected bbox in"
                            + " pixels");
        }
        if (highest > 1) {
            notes.add(Text.format("scores are up to %.4g; expected 0 to 1, not percent", highest));
        }
    }

    private static boolean hasMasks(Dataset dataset) {
        return IntStream.range(0, dataset.size())
                .mapToObj(i -> GroundTruth.objects(dataset, i))
                .flatMap(List::stream)
                .map(Annotation::segmentation)
                .anyMatch(outline -> !(outline instanceof Segmentation.None));
    }

    private MetricReport labelMaps() {
        LabelMapResults maps = LabelMapResults.find(results, annotations, reduceZeroLabel);
        SegmentationEvaluator evaluator = new SegmentationEvaluator(maps);
        for (int i = 0; i < maps.size(); i++) {
            evaluator.process(i, maps.result(i));
        }
        return SegmentationReport.of(evaluator.evaluate(), Map.of(), maps.notes());
    }
}
