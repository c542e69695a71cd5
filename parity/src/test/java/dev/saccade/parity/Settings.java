package dev.saccade.parity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.google.common.collect.Lists;

import org.opentest4j.TestAbortedException;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A JSON object of a case. It tracks which settings were read, so that unused ones fail the case.
 */
final class Settings {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String where;
    private final String path;
    private final JsonNode node;
    private final Set<String> read = new LinkedHashSet<>();
    private final Map<String, List<Settings>> children = new LinkedHashMap<>();

    /**
     * Wraps an object.
     *
     * @param where prefix of messages, such as {@code case anchors}
     * @param path prefix of setting names; empty at the top level
     */
    Settings(String where, String path, JsonNode node) {
        this.where = where;
        this.path = path;
        this.node = node;
    }

    /** Returns whether a key exists and is not null; does not mark nested settings as used. */
    boolean has(String key) {
        if (!node.hasNonNull(key)) {
            read.add(key);
            return false;
        }
        return true;
    }

    private JsonNode get(String key) {
        read.add(key);
        if (!node.hasNonNull(key)) {
            throw new AssertionError(
                    String.format(Locale.ROOT, "%s: setting %s is missing", where, name(key)));
        }
        return node.get(key);
    }

    private JsonNode get(String key, String expected, Predicate<JsonNode> holds) {
        JsonNode value = get(key);
        if (!holds.test(value)) {
            throw refused(key, "expected " + expected);
        }
        return value;
    }

    private String name(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    String text(String key) {
        return get(key, "a text", JsonNode::isTextual).textValue();
    }

    int integer(String key) {
        return get(key, "an integer", JsonNode::isIntegralNumber).intValue();
    }

    int integer(String key, int otherwise) {
        return has(key) ? integer(key) : otherwise;
    }

    boolean isList(String key) {
        return get(key).isArray();
    }

    double number(String key) {
        return get(key, "a number", JsonNode::isNumber).doubleValue();
    }

    double number(String key, double otherwise) {
        return has(key) ? number(key) : otherwise;
    }

    boolean flag(String key) {
        return get(key, "true or false", JsonNode::isBoolean).booleanValue();
    }

    boolean flag(String key, boolean otherwise) {
        return has(key) ? flag(key) : otherwise;
    }

    List<String> texts(String key) {
        return each(key, "texts", JsonNode::isTextual).map(JsonNode::textValue).toList();
    }

    List<Integer> integers(String key) {
        return each(key, "integers", JsonNode::canConvertToExactIntegral)
                .map(JsonNode::intValue)
                .toList();
    }

    List<Integer> integers(String key, List<Integer> otherwise) {
        return has(key) ? integers(key) : otherwise;
    }

    List<Double> numbers(String key) {
        return each(key, "numbers", JsonNode::isNumber).map(JsonNode::doubleValue).toList();
    }

    List<Double> numbers(String key, List<Double> otherwise) {
        return has(key) ? numbers(key) : otherwise;
    }

    List<List<Double>> lists(String key) {
        return each(key, "arrays of numbers", Settings::isNumbers)
                .map(array -> stream(array).map(JsonNode::doubleValue).toList())
                .toList();
    }

    private static boolean isNumbers(JsonNode value) {
        return value.isArray() && stream(value).allMatch(JsonNode::isNumber);
    }

    private static Stream<JsonNode> stream(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }

    private Stream<JsonNode> each(String key, String what, Predicate<JsonNode> holds) {
        JsonNode value = get(key, "an array of " + what, JsonNode::isArray);
        for (JsonNode element : value) {
            if (!holds.test(element)) {
                throw refused(key, "expected an array of " + what);
            }
        }
        return stream(value);
    }

    /** Returns the raw JSON below a key. */
    JsonNode json(String key) {
        return get(key);
    }

    /** Returns the keys, for objects whose keys are names. */
    List<String> keys() {
        return Lists.newArrayList(node.fieldNames());
    }

    Settings object(String key) {
        return objects(key).get(0);
    }

    /** Returns an object, or an empty one if it is missing. */
    Settings objectOrEmpty(String key) {
        return has(key) ? object(key) : child(key, MissingNode.getInstance());
    }

    /** Returns the objects of an array; a single object counts as an array of one. */
    List<Settings> objects(String key) {
        JsonNode value = get(key, "an object, or an array of objects", Settings::isObjects);
        return children.computeIfAbsent(
                key,
                absent -> {
                    if (value.isObject()) {
                        return List.of(child(key, value));
                    }
                    List<Settings> list = new ArrayList<>();
                    for (JsonNode element : value) {
                        list.add(child(key + "[" + list.size() + "]", element));
                    }
                    return list;
                });
    }

    private static boolean isObjects(JsonNode value) {
        return value.isObject() || (value.isArray() && stream(value).allMatch(JsonNode::isObject));
    }

    private Settings child(String key, JsonNode value) {
        return new Settings(where, name(key), value);
    }

    /** Marks keys as used that are only descriptive. */
    void describes(String... keys) {
        read.addAll(List.of(keys));
    }

    /** Fails if a key has another value than the supported one. */
    void only(String key, Object built) {
        if (has(key) && !isValue(get(key), built)) {
            throw refused(key, "built is only " + built);
        }
    }

    /** Skips the case if a key names another class than the supported one. */
    void onlyClass(String key, String built) {
        if (has(key) && !text(key).equals(built)) {
            throw unbuilt(key);
        }
    }

    private static boolean isValue(JsonNode value, Object expected) {
        return expected instanceof Number number
                ? value.isNumber() && value.doubleValue() == number.doubleValue()
                : value.equals(JSON.valueToTree(expected));
    }

    /** Returns the failure for a value that Saccade does not support. */
    AssertionError refused(String key, String reason) {
        return new AssertionError(
                String.format(
                        Locale.ROOT,
                        "%s: setting %s is %s, %s",
                        where,
                        name(key),
                        node.get(key),
                        reason));
    }

    /** Returns the abort of a case that names an unsupported class. */
    TestAbortedException unbuilt(String key) {
        return new TestAbortedException(
                String.format(
                        Locale.ROOT,
                        "%s: nothing is built for the %s %s",
                        where,
                        name(key),
                        node.get(key)));
    }

    /** Returns the names of all unused settings, including nested ones. */
    Stream<String> unread() {
        return Stream.concat(
                keys().stream().filter(key -> !read.contains(key)).map(this::name),
                children.values().stream().flatMap(List::stream).flatMap(Settings::unread));
    }
}
