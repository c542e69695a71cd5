package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.Iterables;

import dev.saccade.report.LineChart;
import dev.saccade.report.LineChart.Series;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

final class RunCurves {

    /** Metrics from 0 to 1; they share a chart in the report of one run. */
    private static final List<String> UNIT_METRICS =
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

    private static final double MEBIBYTE = 1 << 20;

    private final List<LineChart> charts = new ArrayList<>();
    private List<Series> series = new ArrayList<>();

    private RunCurves() {}

    /** Returns the charts of one run, one per quantity. */
    static List<LineChart> of(RunEvents run) {
        RunCurves curves = new RunCurves();
        Set<String> terms = new LinkedHashSet<>();
        run.steps().forEach(s -> s.path("losses").fieldNames().forEachRemaining(terms::add));
        if (terms.size() > 1) {
            curves.add("total", run.steps(), 1, "loss");
        }
        terms.forEach(term -> curves.add(term, run.steps(), 1, "losses", term));
        curves.charts.add(curves.chart("Loss").smoothed());
        UNIT_METRICS.forEach(name -> curves.addMetric(name, run, name));
        curves.charts.add(curves.chart("Validation metrics").withUnitYAxis());
        for (String monitor : monitors(List.of(run))) {
            curves.addMetric(monitor, run, monitor);
            curves.charts.add(curves.chart(monitor));
        }
        curves.add("learning rate", run.steps(), 1, "learning_rate");
        curves.charts.add(curves.chart("Learning rate"));
        curves.add("total", run.steps(), 1, "seconds");
        curves.add("waiting for data", run.steps(), 1, "data_seconds");
        curves.charts.add(curves.chart("Seconds per step"));
        curves.add("process", run.steps(), MEBIBYTE, "resident_bytes");
        curves.add("tensors (peak)", run.steps(), MEBIBYTE, "peak_tensor_bytes");
        curves.charts.add(curves.chart("Memory, MiB"));
        return curves.notEmpty();
    }

    /** Returns charts that compare several runs, one per quantity. */
    static List<LineChart> of(List<String> names, List<RunEvents> runs) {
        RunCurves curves = new RunCurves();
        curves.charts.add(curves.ofSteps("Loss", names, runs, "loss").smoothed());
        for (String metric : Iterables.concat(UNIT_METRICS, monitors(runs))) {
            for (int i = 0; i < runs.size(); i++) {
                curves.addMetric(names.get(i), runs.get(i), metric);
            }
            LineChart chart = curves.chart(metric);
            curves.charts.add(UNIT_METRICS.contains(metric) ? chart.withUnitYAxis() : chart);
        }
        curves.charts.add(curves.ofSteps("Learning rate", names, runs, "learning_rate"));
        curves.charts.add(curves.ofSteps("Seconds per step", names, runs, "seconds"));
        return curves.notEmpty();
    }

    private List<LineChart> notEmpty() {
        return charts.stream().filter(chart -> !chart.isEmpty()).toList();
    }

    private LineChart ofSteps(
            String title, List<String> names, List<RunEvents> runs, String field) {
        for (int i = 0; i < runs.size(); i++) {
            add(names.get(i), runs.get(i).steps(), 1, field);
        }
        return chart(title);
    }

    /** Creates a chart of the curves added since the last chart. */
    private LineChart chart(String title) {
        LineChart chart = new LineChart(title, "step", series);
        series = new ArrayList<>();
        return chart;
    }

    /** Returns the monitored metrics that are not in {@link #UNIT_METRICS}. */
    private static Set<String> monitors(List<RunEvents> runs) {
        Set<String> monitors = new LinkedHashSet<>();
        for (RunEvents run : runs) {
            run.evaluations().stream()
                    .limit(1)
                    .map(evaluation -> evaluation.path("monitor").asText())
                    .filter(monitor -> !UNIT_METRICS.contains(monitor))
                    .forEach(monitors::add);
        }
        return monitors;
    }

    private void addMetric(String curve, RunEvents run, String metric) {
        if (run.evaluations().stream().anyMatch(e -> e.path("metrics").has(metric))) {
            add(curve, run.evaluations(), 1, "metrics", metric);
        }
    }

    /** Adds a curve of the value at a path of each event, divided by {@code unit}. */
    private void add(String curve, List<JsonNode> events, double unit, String... path) {
        if (events.isEmpty()) {
            return;
        }
        double[] x = new double[events.size()];
        double[] y = new double[events.size()];
        for (int i = 0; i < x.length; i++) {
            JsonNode value = events.get(i);
            x[i] = value.path("iteration").asDouble();
            for (String key : path) {
                value = value.path(key);
            }
            // Non-finite values are null; undefined metrics are negative.
            boolean undefined = path[0].equals("metrics") && value.asDouble() < 0;
            y[i] = value.isNumber() && !undefined ? value.asDouble() / unit : Double.NaN;
        }
        series.add(Series.of(curve, x, y));
    }
}
