package dev.saccade.report.runs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;

import dev.saccade.core.SaccadeException;
import dev.saccade.report.BoundedLines;
import dev.saccade.train.checkpoint.RunFolder;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Logged events of a run ({@code metrics.jsonl}); each step event is an average over some steps.
 */
record RunEvents(List<JsonNode> steps, List<JsonNode> evaluations) {

    private static final int MAX_LINE_BYTES = 1 << 20;

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Reads the events; empty if nothing is logged yet. */
    static RunEvents read(Path run) {
        List<JsonNode> events = new ArrayList<>();
        Path file = new RunFolder(run).metrics();
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(BoundedLines.open(file, MAX_LINE_BYTES), UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                events.add(parse(line));
            }
        } catch (NoSuchFileException e) {
            return new RunEvents(List.of(), List.of());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
        return new RunEvents(ofType("step", events), ofType("evaluation", events));
    }

    private static List<JsonNode> ofType(String type, List<JsonNode> events) {
        return events.stream().filter(e -> e.path("event").asText().equals(type)).toList();
    }

    /** Parses a line; incomplete lines give a missing node. */
    static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }
}
