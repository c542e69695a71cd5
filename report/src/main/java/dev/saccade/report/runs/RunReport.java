package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.google.common.collect.Iterables;
import com.google.common.collect.Streams;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.report.Charts;
import dev.saccade.report.Commands;
import dev.saccade.report.DetectionExample;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.Report;
import dev.saccade.report.Section;
import dev.saccade.report.TextTable;
import dev.saccade.report.YamlText;
import dev.saccade.report.runs.RunMetrics.CheckpointMetrics;
import dev.saccade.report.runs.RunMetrics.DataSummary;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.extend.ExtensionReport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The report of a run, with its last evaluation, if any. */
public record RunReport(Path folder, RunEvents events, Optional<RunMetrics> metrics) {

    private static final String TRAINING =
            "The final evaluation uses fused layers, so its metrics can differ slightly from these.";

    public static RunReport read(Path folder) {
        return new RunReport(folder, RunEvents.read(folder), MetricsFile.read(folder));
    }

    /** Writes {@code report.html} into the folder of the run. */
    public static Path write(Path folder) {
        Path file = folder.resolve("report.html");
        read(folder).report().write(file);
        return file;
    }

    String name() {
        return folder.toAbsolutePath().normalize().getFileName().toString();
    }

    Optional<CheckpointMetrics> checkpoint() {
        return metrics.flatMap(RunMetrics::checkpoint);
    }

    /** Returns the config with all defaults. */
    String config() {
        Path file = new RunFolder(folder).config();
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    public Report report() {
        String missing = checkpoint().isPresent() ? "" : "Not evaluated yet.";
        String subtitle = metrics.map(RunMetrics::subtitle).orElse("");
        List<Section> sections = new ArrayList<>();
        ExtensionReport.read(folder).ifPresent(each -> sections.add(addedClasses(each)));
        checkpoint().ifPresent(m -> sections.add(m.task().examples().section()));
        sections.add(new Section("Training", TRAINING, Charts.of(RunCurves.of(events))));
        checkpoint().ifPresent(m -> sections.addAll(m.task().sections()));
        checkpoint().ifPresent(m -> sections.add(model(m)));
        sections.add(metrics.map(RunMetrics::data).orElse(DataSummary.EMPTY).section());
        sections.add(new Section("Config", "", new YamlText(config())));
        metrics.map(RunMetrics::environment)
                .map(facts -> new Section("Environment", "", new FactList(facts)))
                .ifPresent(sections::add);
        return new Report(name(), (subtitle + " " + missing).strip(), headline(), sections);
    }

    private static Section addedClasses(ExtensionReport extension) {
        return new Section(
                "Added classes",
                Text.format(
                        "AP of old classes on the validation set of the previous run, which may"
                                + " drop by at most %s, and AP of added classes on the new"
                                + " validation set.",
                        extension.maxDrop()),
                new TextTable(
                        List.of("Class", "Metric", "Before", "After", "Change"),
                        extension.classes().rows()));
    }

    private List<Fact> headline() {
        List<Fact> facts = new ArrayList<>();
        checkpoint().ifPresent(m -> facts.addAll(m.task().headline()));
        training().ifPresent(facts::add);
        checkpoint().ifPresent(m -> facts.add(latency(m)));
        JsonNode last = Iterables.getLast(events.steps(), MissingNode.getInstance());
        long mebibytes = last.path("peak_tensor_bytes").asLong() >> 20;
        if (mebibytes > 0) {
            facts.add(new Fact("Peak memory", mebibytes + "\u00a0MiB", "tensors"));
        }
        return facts;
    }

    Optional<Fact> training() {
        if (events.steps().isEmpty()) {
            return Optional.empty();
        }
        JsonNode last = Iterables.getLast(events.steps());
        double seconds =
                events.steps().stream()
                        .mapToDouble(s -> s.path("seconds").asDouble())
                        .average()
                        .orElseThrow();
        long steps = last.path("iteration").asLong();
        String epochs = Count.of(last.path("epoch").asInt(), "epoch");
        String note = Count.of(steps, "step") + ", " + epochs;
        return Optional.of(new Fact("Training", duration(seconds * steps), note));
    }

    private static String duration(double seconds) {
        return seconds < 90
                ? Text.format("%.0f\u00a0s", seconds)
                : Text.format("%.1f\u00a0min", seconds / 60);
    }

    static Fact latency(CheckpointMetrics measured) {
        return new Fact(
                "Latency",
                Text.format("%.0f\u00a0ms", measured.latency().total()),
                "per image, batch size 1");
    }

    private Section model(CheckpointMetrics measured) {
        RunMetrics.Weights weights = measured.weights();
        List<Fact> facts = new ArrayList<>();
        facts.add(new Fact("Parameters", millions(weights.parameters())));
        facts.add(new Fact("Checkpoint", folder.resolve(weights.file()).toString()));
        facts.add(fact("Size", weights.bytes() / (double) (1 << 20), "MiB", ""));
        facts.add(new Fact("SHA-256", weights.sha256()));
        Streams.findLast(events.evaluations().stream().filter(e -> e.path("best").asBoolean()))
                .ifPresent(best -> facts.add(new Fact("Best checkpoint", bestAt(best))));
        Latency latency = measured.latency();
        facts.add(fact("Decoding", latency.decode(), "ms", "read and decode the image"));
        facts.add(fact("Preprocessing", latency.preprocess(), "ms", "resize and normalize"));
        facts.add(fact("Inference", latency.inference(), "ms", "model and postprocessing"));
        facts.add(fact("Throughput", measured.imagesPerSecond(), "images/s", "during evaluation"));
        Examples examples = measured.task().examples();
        boolean hasObjects =
                !examples.isEmpty() && examples.rows().get(0).get(0) instanceof DetectionExample;
        String score = hasObjects ? Text.format(" --score %.2f", examples.threshold()) : "";
        String predict =
                Text.format(
                        "./saccade predict %s photo.jpg%s --out found",
                        Printable.shellWord(folder), score);
        return new Section(
                "Model",
                "Best checkpoint, with its median latency per image at batch size 1 on"
                        + " the machine below.",
                new FactList(facts),
                new Commands(List.of(predict)));
    }

    private static Fact fact(String name, double value, String unit, String note) {
        return new Fact(name, Text.format("%.1f\u00a0%s", value, unit), note);
    }

    static String millions(long parameters) {
        return Text.format("%.2f\u00a0million", parameters / 1e6);
    }

    private static String bestAt(JsonNode best) {
        String monitor = best.path("monitor").asText();
        return Text.format(
                "step %d, epoch %d, by %s %.4f",
                best.path("iteration").asLong(),
                best.path("epoch").asInt(),
                monitor,
                best.path("metrics").path(monitor).asDouble());
    }
}
