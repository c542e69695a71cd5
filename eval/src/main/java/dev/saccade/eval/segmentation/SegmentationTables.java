package dev.saccade.eval.segmentation;

import dev.saccade.eval.MetricTable;
import dev.saccade.eval.segmentation.SegmentationEvaluation.Confusion;

import java.util.List;
import java.util.Map;

/** Segmentation metrics as text tables. */
public final class SegmentationTables {

    private SegmentationTables() {}

    /** Returns the means of label maps, one a line. */
    public static MetricTable summary(SegmentationMetrics metrics) {
        Map<String, Double> values = metrics.values();
        return new MetricTable(List.of("metric"), values.keySet().stream().map(List::of).toList())
                .with("value", values.values().stream());
    }

    /** Returns how well the pixels of each class are found, one a line. */
    public static MetricTable perClass(SegmentationMetrics metrics) {
        List<ClassOverlap> classes = metrics.perClass();
        return new MetricTable(
                        List.of("class", "pixels"),
                        classes.stream().map(c -> List.of(c.name(), "" + c.pixels())).toList())
                .with("IoU", classes.stream().map(ClassOverlap::iou))
                .with("Acc", classes.stream().map(ClassOverlap::accuracy))
                .with("Dice", classes.stream().map(ClassOverlap::dice))
                .with("boundary_IoU", classes.stream().map(ClassOverlap::boundaryIou));
    }

    /** Returns the classes whose pixels are most often mistaken, one confusion a line. */
    public static MetricTable confusions(SegmentationEvaluation evaluation, int most) {
        List<Confusion> confusions = evaluation.confusions().stream().limit(most).toList();
        return new MetricTable(
                        List.of("pixels of"),
                        confusions.stream().map(confusion -> List.of(confusion.truth())).toList())
                .withText("taken for", confusions.stream().map(Confusion::predicted))
                .withText("pixels", confusions.stream().map(confusion -> "" + confusion.pixels()))
                .with("share", confusions.stream().map(Confusion::share));
    }
}
