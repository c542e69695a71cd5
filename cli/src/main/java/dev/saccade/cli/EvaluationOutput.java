package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.MetricTable;

import java.util.List;
import java.util.Map;

/** The metrics of an evaluation, as tables and as JSON. */
interface EvaluationOutput {

    /** Returns the tables that every evaluation ends with. */
    List<MetricTable> tables();

    /** Returns further tables, printed by {@code eval} only. */
    List<MetricTable> details();

    /** Returns all metrics, for JSON. */
    Map<String, Object> json();

    /** Returns what the metrics leave out, such as detections above a limit; a line each. */
    default List<String> notes() {
        return List.of();
    }

    /** Returns tables, followed by the metrics of other evaluators if there are any. */
    static List<MetricTable> withOthers(Map<String, Double> others, MetricTable... tables) {
        ImmutableList.Builder<MetricTable> all = ImmutableList.builder();
        all.add(tables);
        if (!others.isEmpty()) {
            all.add(
                    new MetricTable(
                                    List.of("metric"),
                                    others.keySet().stream().map(List::of).toList())
                            .with("value", others.values().stream()));
        }
        return all.build();
    }

    /** Returns the metrics of several evaluators, in their order. */
    static Map<String, Double> joined(Map<String, Double> metrics, Map<String, Double> others) {
        return ImmutableMap.<String, Double>builder().putAll(metrics).putAll(others).buildOrThrow();
    }
}
