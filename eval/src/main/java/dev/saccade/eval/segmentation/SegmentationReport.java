package dev.saccade.eval.segmentation;

import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.MetricReport;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.segmentation.SegmentationEvaluation.Confusion;

import java.util.List;
import java.util.Map;

/** Creates the metric report of a segmentation evaluation. */
public final class SegmentationReport {

    private static final int CONFUSIONS = 10;

    private SegmentationReport() {}

    /** Creates the report; {@code others} are metrics of other evaluators. */
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

    static MetricTable perClass(SegmentationMetrics metrics) {
        List<SegmentationClassMetrics> classes = metrics.perClass();
        return new MetricTable(
                        List.of("class", "pixels"),
                        classes.stream().map(c -> List.of(c.name(), "" + c.pixels())).toList())
                .with("IoU", classes.stream().map(SegmentationClassMetrics::iou))
                .with("Acc", classes.stream().map(SegmentationClassMetrics::accuracy))
                .with("Dice", classes.stream().map(SegmentationClassMetrics::dice))
                .with("boundary_IoU", classes.stream().map(SegmentationClassMetrics::boundaryIou));
    }

    /** Returns the {@code most} most frequent pairs of confused classes. */
    static MetricTable confusions(SegmentationEvaluation evaluation, int most) {
        List<Confusion> confusions = evaluation.confusions().stream().limit(most).toList();
        return new MetricTable(
                        List.of("class"),
                        confusions.stream().map(confusion -> List.of(confusion.truth())).toList())
                .withText("predicted as", confusions.stream().map(Confusion::predicted))
                .withText("pixels", confusions.stream().map(confusion -> "" + confusion.pixels()))
                .with("fraction", confusions.stream().map(Confusion::fraction));
    }
}
