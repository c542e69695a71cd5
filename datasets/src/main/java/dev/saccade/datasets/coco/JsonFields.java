package dev.saccade.datasets.coco;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import com.google.common.primitives.Ints;

import dev.saccade.core.Json;
import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads the known keys of JSON objects from a stream. A value of the wrong kind is a finding with
 * its line and column, and reading goes on.
 */
final class JsonFields {

    /** Reads the current value; empty if it is of the wrong kind. */
    interface ValueReader {
        Optional<?> read() throws IOException;
    }

    /** An object that has been read; values of the wrong kind are empty. */
    record Fields(JsonLocation start, Map<String, Optional<?>> values) {

        boolean has(String key) {
            return values.containsKey(key);
        }

        boolean isUsable(String key) {
            return has(key) && values.get(key).isPresent();
        }

        @SuppressWarnings("unchecked")
        <T> T get(String key, T otherwise) {
            return isUsable(key) ? (T) values.get(key).get() : otherwise;
        }
    }

    private record Problem(JsonLocation at, String message) {}

    private final Path file;
    private final JsonParser parser;
    private final Consumer<Finding> findings;
    private double[] numbers = new double[64];

    /** Problems of the current element, kept until its id is known. */
    private final List<Problem> pending = new ArrayList<>();

    JsonFields(Path file, JsonParser parser, Consumer<Finding> findings) {
        this.file = file;
        this.parser = parser;
        this.findings = findings;
    }

    /**
     * Reads the array of objects that the parser is at.
     *
     * @param section key of the array
     * @param kind name of an element in findings
     */
    void readArray(
            String section, String kind, Map<String, ValueReader> keys, Consumer<Fields> receiver)
            throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            wrong("\"" + section + "\" to be an array");
            return;
        }
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
            if (parser.isExpectedStartObjectToken()) {
                Fields fields = object(keys);
                receiver.accept(fields);
                flush(
                        fields.isUsable("id")
                                ? kind + " " + fields.get("id", 0L)
                                : section + "[" + i + "]");
            } else {
                wrong("an object in \"" + section + "\"");
            }
        }
        flush("");
    }

    /** Reads the object that the parser is at; other keys are skipped. */
    Fields object(Map<String, ValueReader> keys) throws IOException {
        Fields fields = new Fields(parser.currentTokenLocation(), new HashMap<>());
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            ValueReader reader = keys.get(key);
            if (reader == null) {
                parser.skipChildren();
            } else {
                fields.values.put(key, reader.read());
            }
        }
        return fields;
    }

    /** Returns a reader of one scalar of an object as text, which never complains. */
    ValueReader scalarOf(String key) {
        Map<String, ValueReader> keys = Map.of(key, this::scalar);
        return () -> {
            if (parser.isExpectedStartObjectToken()) {
                return Optional.of(object(keys).get(key, ""));
            }
            parser.skipChildren();
            return Optional.empty();
        };
    }

    private Optional<String> scalar() throws IOException {
        Optional<String> text =
                parser.currentToken().isScalarValue()
                        ? Optional.of(parser.getText())
                        : Optional.empty();
        parser.skipChildren();
        return text;
    }

    /** Reads a string; anything else is skipped. */
    Optional<String> optionalText() throws IOException {
        boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
        return scalar().filter(text -> isText);
    }

    /** Reads a string that is not empty. */
    Optional<String> text() throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            return wrong("a string");
        }
        return Optional.of(parser.getText()).filter(text -> !text.isEmpty());
    }

    Optional<Long> integer() throws IOException {
        OptionalLong value = Json.integer(parser);
        if (value.isPresent()) {
            return Optional.of(value.getAsLong());
        }
        boolean large = parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
        return wrong(large ? "an integer of at most 64 bits" : "an integer");
    }

    /** Reads a side in pixels above 0; clamped, it is still too large for any image. */
    Optional<Integer> side() throws IOException {
        return integer().map(Ints::saturatedCast).filter(side -> side > 0);
    }

    Optional<Double> number() throws IOException {
        return parser.currentToken().isNumeric()
                ? Optional.of(parser.getDoubleValue())
                : wrong("a number");
    }

    /** Reads true, false, null or a number, which is true unless it is 0. */
    Optional<Boolean> truth() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_TRUE -> Optional.of(true);
            case VALUE_FALSE, VALUE_NULL -> Optional.of(false);
            default -> number().map(value -> value != 0);
        };
    }

    /** Skips a value whose presence matters. */
    Optional<Boolean> present() throws IOException {
        parser.skipChildren();
        return Optional.of(true);
    }

    /** Reads an array of numbers; NaN where an element is none. */
    Optional<double[]> numbers() throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            return wrong("an array of numbers");
        }
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            boolean isNumber = parser.currentToken().isNumeric();
            numbers[count++] = isNumber ? parser.getDoubleValue() : number().orElse(Double.NaN);
        }
        return Optional.of(Arrays.copyOf(numbers, count));
    }

    /** Reports a value of the wrong kind and skips it. */
    <T> Optional<T> wrong(String expected) throws IOException {
        String got = parser.getText();
        boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
        report(
                parser.currentTokenLocation(),
                Text.format(
                        "%sexpected %s, got %s", key(), expected, isText ? '"' + got + '"' : got));
        parser.skipChildren();
        return Optional.empty();
    }

    /** Returns the path of the current value in its element, such as {@code bbox[2]: }. */
    private String key() {
        String pointer = parser.getParsingContext().pathAsPointer().toString();
        String path =
                Splitter.on('/')
                        .splitToStream(pointer)
                        .skip(3)
                        .map(step -> step.matches("\\d+") ? "[" + step + "]" : "." + step)
                        .collect(Collectors.joining());
        return path.isEmpty() ? "" : path.substring(1) + ": ";
    }

    /** Returns whether keys are usable; reports the others unless a problem explains it already. */
    boolean requireUsable(Fields fields, String... keys) {
        List<String> missing = Stream.of(keys).filter(key -> !fields.isUsable(key)).toList();
        if (!missing.isEmpty() && !hasProblems()) {
            report(fields.start, "lacks a usable " + Joiner.on(", ").join(missing));
        }
        return missing.isEmpty();
    }

    int problems() {
        return pending.size();
    }

    boolean hasProblems() {
        return !pending.isEmpty();
    }

    void report(JsonLocation location, String message) {
        pending.add(new Problem(location, message));
    }

    /** Reports the problems of an element. */
    void flush(String subject) {
        for (Problem problem : pending) {
            String place = file + ":" + problem.at.getLineNr() + ":" + problem.at.getColumnNr();
            findings.accept(Finding.error(place, subject, problem.message));
        }
        pending.clear();
    }
}
