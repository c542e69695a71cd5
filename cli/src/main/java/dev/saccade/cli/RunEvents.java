package dev.saccade.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.RunFolder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Reads the events of a run; none if it has not begun to tell any. */
    static RunEvents read(Path run) {
        ImmutableList.Builder<JsonNode> steps = ImmutableList.builder();
        ImmutableList.Builder<JsonNode> evaluations = ImmutableList.builder();
        for (String line : lines(new RunFolder(run).metrics())) {
            try {
                JsonNode event = JSON.readTree(line);
                switch (event.path("event").asText()) {
                    case "step" -> steps.add(event);
                    case "evaluation" -> evaluations.add(event);
                    default -> {}
                }
            } catch (JsonProcessingException ignored) {
                // The line is being written, or a crash has cut it short.
            }
        }
        return new RunEvents(steps.build(), evaluations.build());
    }

    private static List<String> lines(Path file) {
        try {
            return Files.exists(file)
                    ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList()
                    : List.of();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
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
