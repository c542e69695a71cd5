package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.report.LineChart;
import dev.saccade.report.LineChart.Series;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Training curves from the logged events of runs. */
final class RunCurves {

    /** Metrics from 0 to 1 that share a chart. */
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
        List<LineChart> charts = new ArrayList<>();
        charts.add(chart("Loss", losses(steps)).smoothed());
        charts.add(
                chart(
                                "Validation metrics",
                                SHARES.stream().flatMap(name -> metric(name, name, evaluations)))
                        .ofShares());
        monitorOf(run)
                .filter(monitor -> !SHARES.contains(monitor))
                .ifPresent(name -> charts.add(chart(name, metric(name, name, evaluations))));
        charts.add(chart("Learning rate", curve("learning rate", steps, "learning_rate")));
        charts.add(
                chart(
                        "Seconds per step",
                        Stream.concat(
                                curve("total", steps, "seconds"),
                                curve("waiting for data", steps, "data_seconds"))));
        charts.add(
                chart(
                        "Memory, MiB",
                        Stream.concat(
                                mebibytes("process", steps, "resident_bytes"),
                                mebibytes("tensors (peak)", steps, "peak_tensor_bytes"))));
        return charts.stream().filter(chart -> !chart.series().isEmpty()).toList();
    }

    /** Returns the curves of several runs, one chart for each quantity. */
    static List<LineChart> of(List<String> names, List<RunEvents> runs) {
        List<LineChart> charts = new ArrayList<>();
        charts.add(ofSteps("Loss", names, runs, "loss").smoothed());
        Stream<String> monitors = runs.stream().flatMap(run -> monitorOf(run).stream());
        for (String name : Stream.concat(SHARES.stream(), monitors).distinct().toList()) {
            LineChart chart =
                    chart(
                            name,
                            IntStream.range(0, runs.size())
                                    .boxed()
                                    .flatMap(
                                            i ->
                                                    metric(
                                                            names.get(i),
                                                            name,
                                                            runs.get(i).evaluations())));
            charts.add(SHARES.contains(name) ? chart.ofShares() : chart);
        }
        charts.add(ofSteps("Learning rate", names, runs, "learning_rate"));
        charts.add(ofSteps("Seconds per step", names, runs, "seconds"));
        return charts.stream().filter(chart -> !chart.series().isEmpty()).toList();
    }

    private static LineChart chart(String title, Stream<Series> curves) {
        return new LineChart(title, "step", curves.toList());
    }

    private static LineChart ofSteps(
            String title, List<String> names, List<RunEvents> runs, String field) {
        return chart(
                title,
                IntStream.range(0, runs.size())
                        .boxed()
                        .flatMap(i -> curve(names.get(i), runs.get(i).steps(), field)));
    }

    private static Stream<Series> losses(List<JsonNode> steps) {
        Set<String> terms = new LinkedHashSet<>();
        steps.forEach(step -> step.path("losses").fieldNames().forEachRemaining(terms::add));
        Stream<Series> total = terms.size() > 1 ? curve("total", steps, "loss") : Stream.empty();
        return Stream.concat(
                total,
                terms.stream()
                        .flatMap(
                                term ->
                                        curve(
                                                term,
                                                steps,
                                                step -> number(step.path("losses").path(term)))));
    }

    private static Optional<String> monitorOf(RunEvents run) {
        return run.evaluations().stream().findFirst().map(e -> e.path("monitor").asText());
    }

    /** Returns the curve of a metric if it was evaluated; negative values are undefined. */
    private static Stream<Series> metric(String curve, String name, List<JsonNode> evaluations) {
        return evaluations.stream().anyMatch(e -> e.path("metrics").has(name))
                ? curve(
                        curve,
                        evaluations,
                        e -> {
                            double value = number(e.path("metrics").path(name));
                            return value < 0 ? Double.NaN : value;
                        })
                : Stream.empty();
    }

    private static Stream<Series> mebibytes(String name, List<JsonNode> steps, String field) {
        return curve(name, steps, step -> number(step.path(field)) / (1 << 20));
    }

    private static Stream<Series> curve(String name, List<JsonNode> steps, String field) {
        return curve(name, steps, step -> number(step.path(field)));
    }

    /** Returns a number; NaN if it is missing or null, because it was not finite. */
    private static double number(JsonNode value) {
        return value.isNumber() ? value.asDouble() : Double.NaN;
    }

    private static Stream<Series> curve(
            String name, List<JsonNode> events, Function<JsonNode, Double> value) {
        return events.isEmpty()
                ? Stream.empty()
                : Stream.of(
                        Series.of(
                                name,
                                events.stream()
                                        .mapToDouble(e -> e.path("iteration").asDouble())
                                        .toArray(),
                                events.stream().mapToDouble(value::apply).toArray()));
    }
}
