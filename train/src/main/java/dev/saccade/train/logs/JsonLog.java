package dev.saccade.train.logs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.StepReport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Writes {@code metrics.jsonl}. The {@code event} of each line is {@code step}, for the mean of
 * several steps, or {@code evaluation}.
 */
public final class JsonLog extends LogFile {

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Appends to a file. Removes events after {@code iteration}, which a resumed run logs again.
     */
    public JsonLog(Path file, long iteration) {
        super(keepUntil(file, iteration));
    }

    private static Path keepUntil(Path file, long iteration) {
        if (!Files.exists(file)) {
            return file;
        }
        try {
            // A crash may leave bytes after the last line that are not text.
            String kept =
                    new String(Files.readAllBytes(file), UTF_8)
                            .lines()
                            .filter(line -> iterationOf(line) <= iteration)
                            .map(line -> line + '\n')
                            .collect(joining());
            AtomicFile.write(file, kept);
            return file;
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot read the log: %s", file, e.getMessage());
        }
    }

    /** Returns the iteration of a line, or the maximum for an incomplete line. */
    private static long iterationOf(String line) {
        try {
            return JSON.readTree(line).path("iteration").asLong(Long.MAX_VALUE);
        } catch (JsonProcessingException e) {
            return Long.MAX_VALUE;
        }
    }

    @Override
    public void writeSteps(StepReport mean, MemoryUse memory) {
        ObjectNode line = event("step", mean.iteration(), mean.epoch() + 1);
        line.put("learning_rate", mean.learningRate());
        line.put("loss", number(mean.loss()));
        putAll(line.putObject("losses"), mean.losses());
        putAll(line.putObject("metrics"), mean.metrics());
        line.put("gradient_norm", number(mean.gradientNorm()));
        line.put("seconds", mean.seconds());
        line.put("data_seconds", mean.dataSeconds());
        line.put("resident_bytes", memory.residentBytes());
        line.put("peak_tensor_bytes", memory.peakTensorBytes());
        line.put("arrays", memory.arrays());
        line(line.toString());
    }

    @Override
    public void writeEvaluation(EvaluationReport evaluation) {
        ObjectNode line = event("evaluation", evaluation.iteration(), evaluation.epoch());
        putAll(line.putObject("metrics"), evaluation.metrics());
        line.put("monitor", evaluation.monitor()).put("best", evaluation.best());
        line(line.toString());
    }

    private static ObjectNode event(String name, long iteration, int epoch) {
        return JSON.createObjectNode()
                .put("event", name)
                .put("iteration", iteration)
                .put("epoch", epoch);
    }

    private static void putAll(ObjectNode node, Map<String, Double> values) {
        values.forEach((name, value) -> node.put(name, number(value)));
    }

    /** Returns null for NaN and infinity, which JSON cannot represent. */
    private static Double number(double value) {
        return Double.isFinite(value) ? value : null;
    }
}
