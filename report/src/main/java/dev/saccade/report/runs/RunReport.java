package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.report.Commands;
import dev.saccade.report.DetectionExample;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList;
import dev.saccade.report.Report;
import dev.saccade.report.ReportData;
import dev.saccade.report.ReportData.DataSummary;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;
import dev.saccade.report.runs.RunMetrics.Measured;
import dev.saccade.train.checkpoint.RunFolder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The page of a run.
 *
 * @param folder of the run
 * @param events what it has told so far
 * @param figures what is kept beside that, if anything is
 */
public record RunReport(Path folder, RunEvents events, Optional<RunMetrics> figures) {

    /** Reads what a run has left so far. */
    public static RunReport read(Path folder) {
        return new RunReport(folder, RunEvents.read(folder), MetricsFile.read(folder));
    }

    /** Writes the page into the folder of the run and returns its file. */
    public static Path write(Path folder) {
        Path file = folder.resolve("report.html");
        Report.write(file, read(folder).data());
        return file;
    }

    /** Returns the name of the run. */
    String name() {
        return folder.toAbsolutePath().normalize().getFileName().toString();
    }

    /** Returns what its best checkpoint was measured to do, if it was. */
    Optional<Measured> measured() {
        return figures.flatMap(RunMetrics::measured);
    }

    /** Returns the config with every default written out. */
    String config() {
        Path file = new RunFolder(folder).config();
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /** Returns all that the page shows. */
    public ReportData data() {
        ImmutableList.Builder<Section> sections = ImmutableList.builder();
        measured().ifPresent(m -> sections.addAll(m.task().sections()).add(model(m)));
        String subtitle = figures.map(RunMetrics::subtitle).orElse("");
        String missing = measured().isPresent() ? "" : "Not evaluated on validation images yet.";
        return new ReportData(
                new ReportData.Header(name(), (subtitle + " " + missing).strip(), headline()),
                List.of(),
                examples(),
                RunCurves.of(events),
                sections.build(),
                figures.map(RunMetrics::data).orElse(new DataSummary(List.of(), List.of())),
                new ReportData.Setup(
                        config(), figures.map(RunMetrics::environment).orElse(List.of())));
    }

    private Examples examples() {
        return measured().map(m -> m.task().examples()).orElse(Examples.none(List.of()));
    }

    private List<Fact> headline() {
        ImmutableList.Builder<Fact> facts = ImmutableList.builder();
        measured().ifPresent(m -> facts.addAll(m.task().headline()));
        training().ifPresent(facts::add);
        measured().ifPresent(m -> facts.add(latency(m)));
        events.last()
                .map(last -> last.path("peak_tensor_bytes").asLong() >> 20)
                .filter(mebibytes -> mebibytes > 0)
                .ifPresent(m -> facts.add(new Fact("Peak memory", m + "\u00a0MiB", "tensors")));
        return facts.build();
    }

    /** Returns how long the training took. */
    Optional<Fact> training() {
        OptionalDouble mean =
                events.steps().stream().mapToDouble(s -> s.path("seconds").asDouble()).average();
        return events.last()
                .map(
                        last -> {
                            long steps = last.path("iteration").asLong();
                            int epochs = last.path("epoch").asInt();
                            return new Fact(
                                    "Training",
                                    duration(mean.orElse(0) * steps),
                                    Text.format(
                                            "%s, %s",
                                            Count.of(steps, "step"), Count.of(epochs, "epoch")));
                        });
    }

    private static String duration(double seconds) {
        return seconds < 90
                ? Text.format("%.0f\u00a0s", seconds)
                : Text.format("%.1f\u00a0min", seconds / 60);
    }

    /** Returns how long one photograph takes. */
    static Fact latency(Measured measured) {
        return new Fact(
                "Latency",
                Text.format("%.0f\u00a0ms", measured.latency().all()),
                "per image, batch size 1, with decoding");
    }

    private Section model(Measured measured) {
        RunMetrics.Weights weights = measured.weights();
        ImmutableList.Builder<Fact> facts = ImmutableList.builder();
        facts.add(new Fact("Parameters", millions(weights.parameters())));
        facts.add(new Fact("Checkpoint", folder.resolve(weights.file()).toString()));
        facts.add(
                new Fact(
                        "Size",
                        Text.format("%.1f\u00a0MiB", weights.bytes() / (double) (1 << 20))));
        facts.add(new Fact("SHA-256", weights.sha256()));
        events.best().ifPresent(best -> facts.add(new Fact("Best checkpoint", bestAt(best))));
        Latency latency = measured.latency();
        facts.add(milliseconds("Decoding", latency.decode(), "read and decode the image"));
        facts.add(milliseconds("Preprocessing", latency.prepare(), "resize and normalize"));
        facts.add(milliseconds("Inference", latency.compute(), "model and postprocessing"));
        facts.add(
                new Fact(
                        "Throughput",
                        Text.format("%.1f\u00a0images/s", measured.photographsPerSecond()),
                        "during evaluation"));
        return new Section(
                "Model",
                "The best checkpoint, and its median latency per image at batch size 1 on the"
                        + " machine below.",
                new FactList(facts.build()),
                new Commands(
                        List.of(
                                Text.format(
                                        "./saccade predict %s photo.jpg%s --out found",
                                        Printable.word(folder), score(measured)))));
    }

    private static String score(Measured measured) {
        Examples examples = measured.task().examples();
        boolean hasObjects =
                examples.size() > 0
                        && examples.pictures().get(0).get(0) instanceof DetectionExample;
        return hasObjects ? Text.format(" --score %.2f", examples.threshold()) : "";
    }

    private static Fact milliseconds(String name, double value, String note) {
        return new Fact(name, Text.format("%.1f\u00a0ms", value), note);
    }

    static String millions(long parameters) {
        return Text.format("%.2f\u00a0million", parameters / 1e6);
    }

    private String bestAt(JsonNode best) {
        String monitor = best.path("monitor").asText();
        return Text.format(
                "step %d, epoch %d, by %s %.4f",
                best.path("iteration").asLong(),
                best.path("epoch").asInt(),
                monitor,
                best.path("metrics").path(monitor).asDouble());
    }
}
