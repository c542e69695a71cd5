package dev.saccade.eval;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;

/**
 * Metrics of an evaluation as tables and JSON.
 *
 * @param details further tables, such as the confusion matrix
 * @param notes remarks on the metrics, such as skipped images; one line each
 */
public record MetricReport(
        List<MetricTable> tables,
        List<MetricTable> details,
        Map<String, Object> json,
        List<String> notes) {

    public MetricReport {
        tables = ImmutableList.copyOf(tables);
        details = ImmutableList.copyOf(details);
        notes = ImmutableList.copyOf(notes);
    }

    /** Returns a copy with a table of {@code others}. JSON {@code metrics} contains both maps. */
    public MetricReport with(Map<String, Double> values, Map<String, Double> others) {
        ImmutableList.Builder<MetricTable> all =
                ImmutableList.<MetricTable>builder().addAll(tables);
        if (!others.isEmpty()) {
            all.add(MetricTable.of(others));
        }
        Map<String, Object> metrics =
                ImmutableMap.<String, Object>builder().putAll(values).putAll(others).buildOrThrow();
        Map<String, Object> joined =
                ImmutableMap.<String, Object>builder()
                        .put("metrics", metrics)
                        .putAll(json)
                        .buildOrThrow();
        return new MetricReport(all.build(), details, joined, notes);
    }
}
