package dev.saccade.train.logs;

import static java.util.stream.Collectors.joining;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.StepReport;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;

/** Writes {@code train.log}, one line per event. */
public final class TextLog extends LogFile {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);

    private final Clock clock;

    public TextLog(Path file, Clock clock) {
        super(file);
        this.clock = clock;
    }

    @Override
    public void writeLine(String line) {
        line(TIME.format(LocalDateTime.now(clock)) + "  " + Printable.lines(line));
    }

    @Override
    public void writeSteps(StepReport mean, MemoryUse memory) {
        writeLine(
                text(mean)
                        + Text.format(
                                "  memory %d MiB  peak tensor memory %d MiB  %s",
                                memory.residentBytes() >> 20,
                                memory.peakTensorBytes() >> 20,
                                Count.of(memory.arrays(), "array")));
    }

    @Override
    public void writeEvaluation(EvaluationReport evaluation) {
        writeLine(
                Text.format(
                        "evaluation after %s: %s%s",
                        Count.of(evaluation.iteration(), "step"),
                        terms(evaluation.metrics()),
                        evaluation.best() ? " (best so far)" : ""));
    }

    private static String text(StepReport step) {
        return Text.format(
                "epoch %d  step %d/%d  lr %.3e  loss %.4f (%s)%s  grad_norm %.3f  %.3f s/step"
                        + "  data %.0f %%  eta %s",
                step.epoch() + 1,
                step.iteration(),
                step.iterations(),
                step.learningRate(),
                step.loss(),
                terms(step.losses()),
                step.metrics().isEmpty() ? "" : "  " + terms(step.metrics()),
                step.gradientNorm(),
                step.seconds(),
                100 * step.dataFraction(),
                clock(step.remaining()));
    }

    private static String terms(Map<String, Double> values) {
        return values.entrySet().stream()
                .map(e -> Text.format("%s %.4f", e.getKey(), e.getValue()))
                .collect(joining(", "));
    }

    private static String clock(Duration duration) {
        return Text.format(
                "%d:%02d:%02d",
                duration.toHours(), duration.toMinutesPart(), duration.toSecondsPart());
    }
}
