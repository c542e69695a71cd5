package dev.saccade.eval.segmentation;

import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.MetricReport;
import dev.saccade.eval.MetricTable;

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
                List.of(
                        SegmentationTables.summary(evaluation.metrics()),
                        SegmentationTables.perClass(evaluation.metrics()));
        List<MetricTable> details =
                evaluation.confusions().isEmpty()
                        ? List.of()
                        : List.of(SegmentationTables.confusions(evaluation, CONFUSIONS));
        Map<String, Object> confusion =
                ImmutableMap.of(
                        "classes", evaluation.classes(), "counts", evaluation.confusion().rows());
        Map<String, Object> json =
                ImmutableMap.of("classes", evaluation.metrics().perClass(), "confusion", confusion);
        return new MetricReport(tables, details, json, notes).with(evaluation.values(), others);
    }
}
