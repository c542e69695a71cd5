package dev.saccade.report.runs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;

import dev.saccade.core.SaccadeException;
import dev.saccade.report.BoundedLines;
import dev.saccade.train.checkpoint.RunFolder;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a run has told in its {@code metrics.jsonl}, maybe while it goes on.
 *
 * @param steps means of some steps each, in their order
 * @param evaluations likewise
 */
record RunEvents(List<JsonNode> steps, List<JsonNode> evaluations) {

    private static final int LONGEST_LINE = 1 << 20;

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Reads the events of a run; none if it has not begun to tell any. */
    static RunEvents read(Path run) {
        ImmutableList.Builder<JsonNode> steps = ImmutableList.builder();
        ImmutableList.Builder<JsonNode> evaluations = ImmutableList.builder();
        Path file = new RunFolder(run).metrics();
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(BoundedLines.open(file, LONGEST_LINE), UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode event = parse(line);
                switch (event.path("event").asText()) {
                    case "step" -> steps.add(event);
                    case "evaluation" -> evaluations.add(event);
                    default -> {}
                }
            }
        } catch (NoSuchFileException e) {
            return new RunEvents(List.of(), List.of());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
        return new RunEvents(steps.build(), evaluations.build());
    }

    /** Returns what a line says; nothing, if it is being written, or a crash has cut it short. */
    static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    /** Returns the last of the steps, if there is any. */
    Optional<JsonNode> last() {
        return Optional.ofNullable(Iterables.getLast(steps, null));
    }

    /** Returns the evaluation in which the model did best, by what is monitored. */
    Optional<JsonNode> best() {
        return evaluations.stream()
                .filter(evaluation -> evaluation.path("best").asBoolean())
                .reduce((before, after) -> after);
    }
}
