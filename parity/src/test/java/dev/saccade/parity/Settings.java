package dev.saccade.parity;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.Lists;

import org.opentest4j.TestAbortedException;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;

/**
 * One object of a case's description. It remembers which keys were read, so that a key nobody asked
 * for aborts the case instead of being passed over.
 */
final class Settings {

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

    String text(String key) {
        return get(key).asText();
    }

    int integer(String key) {
        return get(key).intValue();
    }

    int integer(String key, int otherwise) {
        return has(key) ? integer(key) : otherwise;
    }

    double number(String key) {
        return get(key).doubleValue();
    }

    double number(String key, double otherwise) {
        return has(key) ? number(key) : otherwise;
    }

    boolean flag(String key) {
        return get(key).booleanValue();
    }

    boolean flag(String key, boolean otherwise) {
        return has(key) ? flag(key) : otherwise;
    }

    /** Returns the numbers of an array, or those of nested arrays in a row. */
    List<Double> numbers(String key) {
        List<Double> numbers = new ArrayList<>();
        collect(get(key), numbers);
        return numbers;
    }

    List<Integer> integers(String key) {
        return Lists.transform(numbers(key), Double::intValue);
    }

    private static void collect(JsonNode from, List<Double> numbers) {
        if (from.isArray()) {
            from.forEach(element -> collect(element, numbers));
        } else {
            numbers.add(from.doubleValue());
        }
    }

    List<String> texts(String key) {
        return StreamSupport.stream(get(key).spliterator(), false).map(JsonNode::asText).toList();
    }

    /** Returns whatever JSON stands below a key, for values that are not of a fixed form. */
    JsonNode json(String key) {
        return get(key);
    }

    Settings object(String key) {
        return objects(key).get(0);
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
        if (node.has(key) && !get(key).asText().equals(String.valueOf(built))) {
            throw unsupported(key + ": " + node.get(key) + ", built is only " + built);
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
