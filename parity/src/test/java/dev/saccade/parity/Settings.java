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
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * One object of a case's description. It remembers which keys were read, so that a key nobody asked
 * for aborts the case instead of being passed over.
 */
final class Settings {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String path;
    private final JsonNode node;
    private final Set<String> read = new LinkedHashSet<>();
    private final Map<String, List<Settings>> children = new LinkedHashMap<>();

    Settings(String path, JsonNode node) {
        this.path = path;
        this.node = node;
    }

    /** Returns whether a key is there and not null. */
    boolean has(String key) {
        read.add(key);
        return node.hasNonNull(key);
    }

    private JsonNode get(String key) {
        if (!has(key)) {
            throw new AssertionError(path + " has no " + key);
        }
        return node.get(key);
    }

    private JsonNode get(String key, String expected, Predicate<JsonNode> holds) {
        JsonNode value = get(key);
        if (!holds.test(value)) {
            throw unsupported(key + ": " + value + ", understood is only " + expected);
        }
        return value;
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

    /** Returns the numbers of each array of an array. */
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
                throw unsupported(key + ": " + element + ", understood are only " + what);
            }
        }
        return stream(value);
    }

    /** Returns what stands below a key, for values of a form that nothing else has. */
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

    /** Returns an object, or one without keys. */
    Settings objectOrEmpty(String key) {
        return has(key) ? object(key) : new Settings(path + "." + key, MissingNode.getInstance());
    }

    /** Returns the objects of an array; an object that stands alone is an array of one. */
    List<Settings> objects(String key) {
        JsonNode value = get(key);
        return children.computeIfAbsent(
                key,
                absent -> {
                    List<Settings> list = new ArrayList<>();
                    if (value.isArray()) {
                        for (JsonNode element : value) {
                            String index = "[" + list.size() + "]";
                            list.add(new Settings(path + "." + key + index, element));
                        }
                    } else {
                        list.add(new Settings(path + "." + key, value));
                    }
                    return list;
                });
    }

    /** Passes over keys that describe the case to people. */
    void describes(String... keys) {
        read.addAll(List.of(keys));
    }

    /** Aborts the case if a key is there with another value than the one that is built. */
    void only(String key, Object built) {
        if (!has(key)) {
            return;
        }
        JsonNode value = get(key);
        boolean same =
                built instanceof Number number
                        ? value.isNumber() && value.doubleValue() == number.doubleValue()
                        : value.equals(JSON.valueToTree(built));
        if (!same) {
            throw unsupported(key + ": " + value + ", built is only " + built);
        }
    }

    /** Returns the abortion of a case that asks for what Saccade has not. */
    TestAbortedException unsupported(String reason) {
        return new TestAbortedException(path + ": " + reason);
    }

    /** Aborts the case if a key was never asked for. */
    void checkAllRead() {
        node.fieldNames()
                .forEachRemaining(
                        key -> {
                            if (!read.contains(key)) {
                                throw unsupported("nothing is built for the key " + key);
                            }
                        });
        children.values().forEach(list -> list.forEach(Settings::checkAllRead));
    }
}
