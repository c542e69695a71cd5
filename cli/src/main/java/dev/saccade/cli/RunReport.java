package dev.saccade.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.report.LineChart;
import dev.saccade.report.Report;
import dev.saccade.report.ReportData;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** Gathers what a run has left behind into its {@code report.html}. */
final class RunReport {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final TaskFigures task;

    private RunReport(Path folder, TaskFigures task) {
        this.folder = folder;
        this.task = task;
    }

    /**
     * Writes {@code report.html} into the folder of a run.
     *
     * @param folder the run, with its {@code metrics.jsonl} and {@code config.yaml}
     * @param subtitle one sentence about the run
     * @param task how the model did on held-back photographs
     * @param held what the data sets hold, by their role
     * @return the file
     */
    static Path write(
            Path folder, String subtitle, TaskFigures task, Map<String, DatasetStatistics> held) {
        Path file = folder.resolve("report.html");
        Report.write(file, new RunReport(folder, task).data(subtitle, held));
        return file;
    }

    private ReportData data(String subtitle, Map<String, DatasetStatistics> held) {
        List<JsonNode> events = events();
        List<JsonNode> steps = ofKind(events, "step");
        return new ReportData(
                new ReportData.Header(folder.getFileName().toString(), subtitle, headline(steps)),
                task.examples(),
                curves(steps, ofKind(events, "evaluation")),
                task.sections(),
                new ReportData.DataSummary(
                        DatasetFigures.facts(held), DatasetFigures.histograms(held)),
                new ReportData.Setup(
                        text(folder.resolve("config.yaml")),
                        EnvCommand.facts().entrySet().stream()
                                .map(
                                        fact ->
                                                new ReportData.Fact(
                                                        fact.getKey(),
                                                        EnvCommand.text(fact.getValue())))
                                .toList()));
    }

    private List<ReportData.Fact> headline(List<JsonNode> steps) {
        ImmutableList.Builder<ReportData.Fact> facts = ImmutableList.builder();
        facts.addAll(task.headline());
        if (!steps.isEmpty()) {
            JsonNode last = steps.get(steps.size() - 1);
            double seconds =
                    steps.stream()
                            .mapToDouble(s -> s.path("seconds").asDouble())
                            .average()
                            .orElse(0);
            facts.add(
                    new ReportData.Fact(
                            "Training",
                            duration(seconds * last.path("iteration").asLong()),
                            "%s, %s"
                                    .formatted(
                                            Count.of(last.path("iteration").asLong(), "step"),
                                            Count.of(last.path("epoch").asInt() + 1, "epoch"))));
            long peak = last.path("peak_tensor_bytes").asLong() >> 20;
            if (peak > 0) {
                facts.add(new ReportData.Fact("Memory", peak + " MiB", "of tensors at most"));
            }
        }
        return facts.build();
    }

    private static String duration(double seconds) {
        return seconds < 90
                ? String.format(Locale.ROOT, "%.0f s", seconds)
                : String.format(Locale.ROOT, "%.1f min", seconds / 60);
    }

    private List<LineChart> curves(List<JsonNode> steps, List<JsonNode> evaluations) {
        if (steps.isEmpty()) {
            return List.of();
        }
        List<LineChart.Series> losses = new ArrayList<>();
        for (String term : termsOf(steps)) {
            losses.add(series(term, steps, step -> step.path("losses").path(term).asDouble()));
        }
        ImmutableList.Builder<LineChart> charts = ImmutableList.builder();
        charts.add(new LineChart("Loss", "step", losses).smoothed());
        if (!evaluations.isEmpty()) {
            charts.add(
                    new LineChart(
                                    task.progress(),
                                    "step",
                                    task.metrics().stream()
                                            .filter(name -> isMeasured(name, evaluations))
                                            .map(name -> metric(name, evaluations))
                                            .toList())
                            .ofShares());
            String monitor = evaluations.get(0).path("monitor").asText();
            if (!task.metrics().contains(monitor) && isMeasured(monitor, evaluations)) {
                charts.add(new LineChart(monitor, "step", List.of(metric(monitor, evaluations))));
            }
        }
        charts.add(
                new LineChart(
                        "Learning rate",
                        "step",
                        List.of(
                                series(
                                        "learning rate",
                                        steps,
                                        step -> step.path("learning_rate").asDouble()))));
        charts.add(
                new LineChart(
                        "Seconds a step",
                        "step",
                        List.of(
                                series("all", steps, step -> step.path("seconds").asDouble()),
                                series(
                                        "waiting for data",
                                        steps,
                                        step -> step.path("data_seconds").asDouble()))));
        charts.add(
                new LineChart(
                        "Memory, MiB",
                        "step",
                        List.of(
                                mebibytes("process", "resident_bytes", steps),
                                mebibytes("tensors at most", "peak_tensor_bytes", steps))));
        return charts.build();
    }

    private static LineChart.Series mebibytes(String name, String field, List<JsonNode> steps) {
        return series(name, steps, step -> step.path(field).asDouble() / (1 << 20));
    }

    private static Set<String> termsOf(List<JsonNode> steps) {
        Set<String> terms = new LinkedHashSet<>();
        steps.get(0).path("losses").fieldNames().forEachRemaining(terms::add);
        return terms;
    }

    private static boolean isMeasured(String name, List<JsonNode> evaluations) {
        return evaluations.stream().anyMatch(e -> e.path("metrics").has(name));
    }

    private static LineChart.Series metric(String name, List<JsonNode> evaluations) {
        return series(
                name,
                evaluations,
                e -> {
                    double value = e.path("metrics").path(name).asDouble(-1);
                    return value < 0 ? Double.NaN : value;
                });
    }

    private static LineChart.Series series(
            String name, List<JsonNode> events, ToDoubleFunction<JsonNode> value) {
        return LineChart.Series.of(
                name,
                events.stream().mapToDouble(e -> e.path("iteration").asDouble()).toArray(),
                events.stream().mapToDouble(value).toArray());
    }

    private List<JsonNode> events() {
        List<JsonNode> events = new ArrayList<>();
        for (String line : text(folder.resolve("metrics.jsonl")).lines().toList()) {
            try {
                events.add(JSON.readTree(line));
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s/metrics.jsonl: not JSON: %s", folder, line);
            }
        }
        return events;
    }

    private static List<JsonNode> ofKind(List<JsonNode> events, String kind) {
        return events.stream().filter(e -> kind.equals(e.path("event").asText())).toList();
    }

    private static String text(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file, StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }
}
