package dev.saccade.datasets.convert.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A JSON value in memory: a Map, List, String, Double or Boolean; empty for null. */
public record JsonValue(Optional<Object> value) {

    private static final int MAX_VALUES = 10_000_000;

    /** Reads the value at the current token; throws if it holds more than 10 million values. */
    public static JsonValue read(JsonParser json) throws IOException {
        return new JsonValue(Optional.ofNullable(value(json, new int[1])));
    }

    private static Object value(JsonParser json, int[] count) throws IOException {
        if (++count[0] > MAX_VALUES) {
            throw SaccadeException.user("got more than %d JSON values in a task", MAX_VALUES);
        }
        switch (json.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String key = json.currentName();
                    json.nextToken();
                    object.put(key, value(json, count));
                }
                return object;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(json, count));
                }
                return list;
            }
            case VALUE_NULL -> {
                return null;
            }
            case VALUE_TRUE, VALUE_FALSE -> {
                return json.getBooleanValue();
            }
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> {
                return json.getDoubleValue();
            }
            default -> {
                return json.getText();
            }
        }
    }

    /** Returns a field of an object; empty if missing or not an object. */
    public JsonValue get(String key) {
        return new JsonValue(
                value.filter(Map.class::isInstance).map(object -> ((Map<?, ?>) object).get(key)));
    }

    public boolean isMissing() {
        return value.isEmpty();
    }

    /** Returns the entries of a list; none for other values. */
    public List<JsonValue> entries() {
        return value.filter(List.class::isInstance).stream()
                .flatMap(list -> ((List<?>) list).stream())
                .map(entry -> new JsonValue(Optional.ofNullable(entry)))
                .toList();
    }

    /** Returns the fields of an object in order; none for other values. */
    public Map<String, JsonValue> fields() {
        Map<String, JsonValue> fields = new LinkedHashMap<>();
        value.filter(Map.class::isInstance)
                .ifPresent(
                        object ->
                                ((Map<?, ?>) object)
                                        .forEach(
                                                (key, field) ->
                                                        fields.put(
                                                                (String) key,
                                                                new JsonValue(
                                                                        Optional.ofNullable(
                                                                                field)))));
        return fields;
    }

    /** Returns text; empty for other values. */
    public String text() {
        return value.filter(String.class::isInstance).map(String.class::cast).orElse("");
    }

    /** Returns a number; NaN for other values. */
    public double number() {
        return value.filter(Double.class::isInstance).map(Double.class::cast).orElse(Double.NaN);
    }

    public boolean isTrue() {
        return value.filter(Boolean.TRUE::equals).isPresent();
    }
}
