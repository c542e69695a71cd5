package dev.saccade.datasets.coco;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.primitives.Ints;

import dev.saccade.core.Json;
import dev.saccade.core.Text;
import dev.saccade.datasets.check.Reporter;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Reads JSON objects from a stream; reports values of the wrong type with their position. */
final class JsonFields {

    interface ValueReader {
        Optional<?> read(String key) throws IOException;
    }

    /** A parsed object; values of the wrong type are empty. */
    record Fields(JsonLocation start, Map<String, Optional<?>> values) {

        boolean has(String key) {
            return values.containsKey(key);
        }

        boolean isUsable(String key) {
            return values.getOrDefault(key, Optional.empty()).isPresent();
        }

        @SuppressWarnings("unchecked")
        <T> T get(String key, T otherwise) {
            return isUsable(key) ? (T) values.get(key).get() : otherwise;
        }
    }

    private record Problem(JsonLocation at, String message) {}

    private final Path file;
    private final JsonParser parser;
    private final Reporter findings;
    private final ValueReader values;

    private double[] numbers = new double[64];

    /** Problems of the current element, kept until its id is known. */
    private final List<Problem> pending = new ArrayList<>();

    JsonFields(Path file, JsonParser parser, Reporter findings, ValueReader values) {
        this.file = file;
        this.parser = parser;
        this.findings = findings;
        this.values = values;
    }

    /** Reads the parser's current array of objects; {@code kind} names an element in findings. */
    void readArray(String section, String kind, Set<String> keys, Consumer<Fields> receiver)
            throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            wrong("\"" + section + "\" to be an array");
            return;
        }
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
            String subject = "";
            if (parser.isExpectedStartObjectToken()) {
                Fields fields = object(keys);
                receiver.accept(fields);
                subject =
                        fields.isUsable("id")
                                ? kind + " " + fields.get("id", 0L)
                                : section + "[" + i + "]";
            } else {
                wrong("an object in \"" + section + "\"");
            }
            flush(subject);
        }
    }

    Fields object(Set<String> keys) throws IOException {
        Fields fields = new Fields(parser.currentTokenLocation(), new HashMap<>());
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            if (keys.contains(key)) {
                fields.values.put(key, values.read(key));
            } else {
                parser.skipChildren();
            }
        }
        return fields;
    }

    Optional<String> scalar(String keyName) throws IOException {
        Optional<String> found = Optional.empty();
        if (!parser.isExpectedStartObjectToken()) {
            parser.skipChildren();
            return found;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean isWanted = parser.currentName().equals(keyName);
            if (parser.nextToken().isScalarValue() && isWanted) {
                found = Optional.of(parser.getText());
            }
            parser.skipChildren();
        }
        return found;
    }

    Optional<String> optionalText() throws IOException {
        boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
        Optional<String> text = isText ? Optional.of(parser.getText()) : Optional.empty();
        parser.skipChildren();
        return text;
    }

    Optional<String> text() throws IOException {
        return parser.currentToken() == JsonToken.VALUE_STRING
                ? Optional.of(parser.getText()).filter(text -> !text.isEmpty())
                : wrong("a string");
    }

    Optional<Long> integer() throws IOException {
        OptionalLong value = Json.integer(parser);
        if (value.isPresent()) {
            return Optional.of(value.getAsLong());
        }
        boolean large = parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
        return wrong(large ? "an integer of at most 64 bits" : "an integer");
    }

    /** Reads a positive side in pixels; huge values are clamped, but still exceed any image. */
    Optional<Integer> side() throws IOException {
        return integer().map(Ints::saturatedCast).filter(side -> side > 0);
    }

    Optional<Double> number() throws IOException {
        return parser.currentToken().isNumeric()
                ? Optional.of(parser.getDoubleValue())
                : wrong("a number");
    }

    /** Reads true, false, null (as false) or a number (as true unless 0). */
    Optional<Boolean> truth() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_TRUE -> Optional.of(true);
            case VALUE_FALSE, VALUE_NULL -> Optional.of(false);
            default -> number().map(value -> value != 0);
        };
    }

    Optional<Boolean> present() throws IOException {
        parser.skipChildren();
        return Optional.of(true);
    }

    Optional<double[]> numbers() throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            return wrong("an array of numbers");
        }
        int before = problems();
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            if (parser.currentToken().isNumeric()) {
                numbers[count++] = parser.getDoubleValue();
            } else {
                wrong("a number");
            }
        }
        return problems() == before ? Optional.of(Arrays.copyOf(numbers, count)) : Optional.empty();
    }

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
        String inElement = pointer.replaceFirst("^(/[^/]*){0,2}/?", "");
        String path = inElement.replaceAll("/(\\d+)", "[$1]").replace('/', '.');
        return path.isEmpty() ? "" : path + ": ";
    }

    /** Returns whether all keys have valid values; reports the rest unless a problem is pending. */
    boolean requireUsable(Fields fields, String... keys) {
        List<String> missing = Stream.of(keys).filter(key -> !fields.isUsable(key)).toList();
        if (!missing.isEmpty() && pending.isEmpty()) {
            report(fields.start, "has no valid " + String.join(", ", missing));
        }
        return missing.isEmpty();
    }

    int problems() {
        return pending.size();
    }

    void report(JsonLocation location, String message) {
        pending.add(new Problem(location, message));
    }

    void flush(String subject) {
        for (Problem problem : pending) {
            String place = file + ":" + problem.at.getLineNr() + ":" + problem.at.getColumnNr();
            findings.errorAt(place, subject, "%s", problem.message);
        }
        pending.clear();
    }
}
