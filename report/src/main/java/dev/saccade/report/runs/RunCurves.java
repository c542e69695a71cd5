package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;

import dev.saccade.report.LineChart;
import dev.saccade.report.LineChart.Series;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Training curves from the logged events of runs. */
final class RunCurves {

    /** Metrics that stand together in a chart where they were measured, the first ones first. */
    private static final List<String> SHARES =
            List.of(
                    "AP",
                    "AP50",
                    "AP75",
                    "mask_AP",
                    "mask_AP50",
                    "mIoU",
                    "mAcc",
                    "aAcc",
                    "boundary_mIoU");

    private RunCurves() {}

    /** Returns the curves of one run. */
    static List<LineChart> of(RunEvents run) {
        List<JsonNode> steps = run.steps();
        List<JsonNode> evaluations = run.evaluations();
        ImmutableList.Builder<LineChart> charts = ImmutableList.builder();
        if (!steps.isEmpty()) {
            List<Series> losses = new ArrayList<>();
            Set<String> terms = termsOf(steps);
            if (terms.size() > 1) {
                losses.add(series("total", steps, step -> step.path("loss")));
            }
            for (String term : terms) {
                losses.add(series(term, steps, step -> step.path("losses").path(term)));
            }
            charts.add(new LineChart("Loss", "step", losses).smoothed());
        }
        if (!evaluations.isEmpty()) {
            List<Series> shares =
                    SHARES.stream()
                            .filter(name -> isMeasured(name, evaluations))
                            .map(name -> metric(name, name, evaluations))
                            .toList();
            if (!shares.isEmpty()) {
                String title = "Validation metrics";
                charts.add(new LineChart(title, "step", shares).ofShares());
            }
            String monitor = monitorOf(run).orElse("");
            if (!SHARES.contains(monitor) && isMeasured(monitor, evaluations)) {
                Series curve = metric(monitor, monitor, evaluations);
                charts.add(new LineChart(monitor, "step", List.of(curve)));
            }
        }
        if (!steps.isEmpty()) {
            charts.add(
                    learningRate(
                            List.of(
                                    series(
                                            "learning rate",
                                            steps,
                                            step -> step.path("learning_rate")))));
            charts.add(
                    seconds(
                            List.of(
                                    series("total", steps, step -> step.path("seconds")),
                                    series(
                                            "waiting for data",
                                            steps,
                                            step -> step.path("data_seconds")))));
            charts.add(
                    new LineChart(
                            "Memory, MiB",
                            "step",
                            List.of(
                                    mebibytes("process", "resident_bytes", steps),
                                    mebibytes("tensors (peak)", "peak_tensor_bytes", steps))));
        }
        return charts.build();
    }

    /**
     * Returns curves of several runs over one another.
     *
     * @param names of the runs
     */
    static List<LineChart> of(List<String> names, List<RunEvents> runs) {
        ImmutableList.Builder<LineChart> charts = ImmutableList.builder();
        charts.add(
                new LineChart("Loss", "step", ofSteps(names, runs, step -> step.path("loss")))
                        .smoothed());
        for (String name : metricsOf(runs)) {
            List<Series> curves = new ArrayList<>();
            for (int run = 0; run < runs.size(); run++) {
                if (isMeasured(name, runs.get(run).evaluations())) {
                    curves.add(metric(names.get(run), name, runs.get(run).evaluations()));
                }
            }
            LineChart chart = new LineChart(name, "step", curves);
            charts.add(SHARES.contains(name) ? chart.ofShares() : chart);
        }
        charts.add(learningRate(ofSteps(names, runs, step -> step.path("learning_rate"))));
        charts.add(seconds(ofSteps(names, runs, step -> step.path("seconds"))));
        return charts.build().stream().filter(chart -> !chart.series().isEmpty()).toList();
    }

    private static LineChart learningRate(List<Series> curves) {
        return new LineChart("Learning rate", "step", curves);
    }

    private static LineChart seconds(List<Series> curves) {
        return new LineChart("Seconds per step", "step", curves);
    }

    /** Returns the metrics of any run that a comparison shows. */
    private static List<String> metricsOf(List<RunEvents> runs) {
        return Stream.concat(SHARES.stream(), runs.stream().flatMap(run -> monitorOf(run).stream()))
                .distinct()
                .filter(name -> runs.stream().anyMatch(run -> isMeasured(name, run.evaluations())))
                .toList();
    }

    private static Optional<String> monitorOf(RunEvents run) {
        return run.evaluations().stream().findFirst().map(e -> e.path("monitor").asText());
    }

    private static List<Series> ofSteps(
            List<String> names, List<RunEvents> runs, Function<JsonNode, JsonNode> value) {
        List<Series> curves = new ArrayList<>();
        for (int run = 0; run < runs.size(); run++) {
            if (!runs.get(run).steps().isEmpty()) {
                curves.add(series(names.get(run), runs.get(run).steps(), value));
            }
        }
        return curves;
    }

    private static Series mebibytes(String name, String field, List<JsonNode> steps) {
        return curve(name, steps, step -> number(step.path(field)) / (1 << 20));
    }

    private static Set<String> termsOf(List<JsonNode> steps) {
        Set<String> terms = new LinkedHashSet<>();
        steps.forEach(step -> step.path("losses").fieldNames().forEachRemaining(terms::add));
        return terms;
    }

    private static boolean isMeasured(String name, List<JsonNode> evaluations) {
        return evaluations.stream().anyMatch(e -> e.path("metrics").has(name));
    }

    private static Series metric(String curve, String name, List<JsonNode> evaluations) {
        return curve(
                curve,
                evaluations,
                e -> {
                    double value = number(e.path("metrics").path(name));
                    return value < 0 ? Double.NaN : value;
                });
    }

    private static Series series(
            String name, List<JsonNode> steps, Function<JsonNode, JsonNode> field) {
        return curve(name, steps, step -> number(field.apply(step)));
    }

    /** Returns a number; NaN if it is missing, or null because it was not finite. */
    private static double number(JsonNode value) {
        return value.isNumber() ? value.asDouble() : Double.NaN;
    }

    private static Series curve(
            String name, List<JsonNode> events, ToDoubleFunction<JsonNode> value) {
        return Series.of(
                name,
                events.stream().mapToDouble(e -> e.path("iteration").asDouble()).toArray(),
                events.stream().mapToDouble(value).toArray());
    }
}
