package dev.saccade.eval.segmentation;

import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.MetricReport;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.segmentation.SegmentationEvaluation.Confusion;

import java.util.List;
import java.util.Map;

/** Reports the metrics of label maps. */
public final class SegmentationReport {

    private static final int CONFUSIONS = 10;

    private SegmentationReport() {}

    /**
     * Returns the report of an evaluation.
     *
     * @param others metrics of other evaluators
     * @param notes limits of the metrics, one line each
     */
    public static MetricReport of(
            SegmentationEvaluation evaluation, Map<String, Double> others, List<String> notes) {
        List<MetricTable> tables =
                List.of(MetricTable.of(evaluation.values()), perClass(evaluation.metrics()));
        List<MetricTable> details =
                evaluation.confusions().isEmpty()
                        ? List.of()
                        : List.of(confusions(evaluation, CONFUSIONS));
        Map<String, Object> confusion =
                ImmutableMap.of(
                        "classes", evaluation.classes(), "counts", evaluation.confusion().rows());
        Map<String, Object> json =
                ImmutableMap.of("classes", evaluation.metrics().perClass(), "confusion", confusion);
        return new MetricReport(tables, details, json, notes).with(evaluation.values(), others);
    }

    /** Returns how well the pixels of each class are found, one a line. */
    static MetricTable perClass(SegmentationMetrics metrics) {
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
    static MetricTable confusions(SegmentationEvaluation evaluation, int most) {
        List<Confusion> confusions = evaluation.confusions().stream().limit(most).toList();
        return new MetricTable(
                        List.of("pixels of"),
                        confusions.stream().map(confusion -> List.of(confusion.truth())).toList())
                .withText("taken for", confusions.stream().map(Confusion::predicted))
                .withText("pixels", confusions.stream().map(confusion -> "" + confusion.pixels()))
                .with("share", confusions.stream().map(Confusion::share));
    }
}
