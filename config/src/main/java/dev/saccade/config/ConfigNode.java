package dev.saccade.config;

import com.google.common.base.Ascii;
import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Ints;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An immutable config value with its origin. */
public sealed interface ConfigNode {

    /** Returns the origin of the value's key, or of the value itself in a list. */
    Origin origin();

    /** Returns a copy with the origins of the values at the same paths of another tree. */
    ConfigNode withOriginsOf(ConfigNode source);

    /** Describes the value for messages: {@code a list}, {@code the number 3}. */
    String describe();

    /** Returns the value of a key or list index; empty if missing. */
    default Optional<ConfigNode> child(String step) {
        return Optional.empty();
    }

    /** Returns the value at a path, or its closest existing ancestor. */
    default ConfigNode nearest(String path) {
        ConfigNode node = this;
        for (String step : steps(path)) {
            Optional<ConfigNode> next = node.child(step);
            if (next.isEmpty()) {
                return node;
            }
            node = next.get();
        }
        return node;
    }

    /** Returns all scalars as strings by paths such as {@code necks[0].num_outs}. */
    default Map<String, String> scalars() {
        Map<String, String> all = new LinkedHashMap<>();
        collect("", all);
        return all;
    }

    private void collect(String path, Map<String, String> all) {
        if (this instanceof Mapping map) {
            String prefix = path.isEmpty() ? "" : path + ".";
            map.entries.forEach((key, value) -> value.collect(prefix + key, all));
        } else if (this instanceof Sequence list) {
            for (int i = 0; i < list.items.size(); i++) {
                list.items.get(i).collect(path + "[" + i + "]", all);
            }
        } else if (this instanceof Scalar scalar) {
            all.put(path, scalar.value.toString());
        }
    }

    /** Splits {@code necks[0].num_outs} into {@code necks}, {@code 0} and {@code num_outs}. */
    static List<String> steps(String path) {
        return Splitter.on(CharMatcher.anyOf(".[")).splitToList(path.replace("]", ""));
    }

    /** Merges two maps; otherwise returns {@code over}. */
    static ConfigNode merge(ConfigNode old, ConfigNode over) {
        return old instanceof Mapping below && over instanceof Mapping above
                ? below.mergedWith(above)
                : over;
    }

    /** A map that keeps the order of its entries. */
    record Mapping(Map<String, ConfigNode> entries, Origin origin) implements ConfigNode {

        private static final String TYPE = "type";

        /** Alternative units of a duration. */
        private static final Set<String> DURATIONS = Set.of("epochs", "iterations");

        public Mapping {
            entries = ImmutableMap.copyOf(entries);
        }

        public Optional<ConfigNode> get(String key) {
            return Optional.ofNullable(entries.get(key));
        }

        @Override
        public Optional<ConfigNode> child(String step) {
            return get(step);
        }

        /**
         * Returns this map with the entries of {@code over}; merges maps, replaces other values.
         *
         * <p>A different {@code type} replaces the whole map, as the settings of one component do
         * not apply to another. Setting {@code epochs} removes {@code iterations} and vice versa.
         */
        public Mapping mergedWith(Mapping over) {
            ConfigNode type = entries.get(TYPE);
            ConfigNode newType = over.entries.get(TYPE);
            if (type != null && newType != null && !sameValue(type, newType)) {
                return over;
            }
            Map<String, ConfigNode> merged = new LinkedHashMap<>(entries);
            if (DURATIONS.stream().anyMatch(over::isSet)) {
                merged.keySet().removeAll(DURATIONS);
            }
            over.entries.forEach((key, value) -> merged.merge(key, value, ConfigNode::merge));
            return new Mapping(merged, over.origin.line() == 0 ? origin : over.origin);
        }

        private boolean isSet(String key) {
            return entries.containsKey(key) && !(entries.get(key) instanceof Null);
        }

        private static boolean sameValue(ConfigNode a, ConfigNode b) {
            return a instanceof Scalar x && b instanceof Scalar y && x.value().equals(y.value());
        }

        @Override
        public Mapping withOriginsOf(ConfigNode source) {
            if (!(source instanceof Mapping other)) {
                return this;
            }
            Map<String, ConfigNode> located = new LinkedHashMap<>();
            entries.forEach(
                    (key, value) ->
                            located.put(
                                    key, other.get(key).map(value::withOriginsOf).orElse(value)));
            return new Mapping(located, other.origin);
        }

        @Override
        public String describe() {
            return "a map";
        }
    }

    record Sequence(List<ConfigNode> items, Origin origin) implements ConfigNode {

        public Sequence {
            items = List.copyOf(items);
        }

        @Override
        public Optional<ConfigNode> child(String step) {
            return Optional.ofNullable(Ints.tryParse(step))
                    .filter(index -> index >= 0 && index < items.size())
                    .map(items::get);
        }

        @Override
        public Sequence withOriginsOf(ConfigNode source) {
            if (!(source instanceof Sequence other) || other.items.size() != items.size()) {
                return this;
            }
            List<ConfigNode> located = new ArrayList<>();
            for (int i = 0; i < items.size(); i++) {
                located.add(items.get(i).withOriginsOf(other.items.get(i)));
            }
            return new Sequence(located, other.origin);
        }

        @Override
        public String describe() {
            return "a list";
        }
    }

    /**
     * A scalar.
     *
     * @param value a {@link String}, {@link Boolean}, {@link Long}, {@link java.math.BigInteger}
     *     (beyond a long) or {@link Double}; binding rejects other objects
     */
    record Scalar(Object value, Origin origin) implements ConfigNode {

        private static final int MAX_SHOWN = 60;

        @Override
        public Scalar withOriginsOf(ConfigNode source) {
            return source instanceof Scalar ? new Scalar(value, source.origin()) : this;
        }

        @Override
        public String describe() {
            if (value instanceof String text) {
                return "the string \"" + Ascii.truncate(text, MAX_SHOWN, "...") + "\"";
            }
            if (value instanceof Boolean) {
                return value.toString();
            }
            return value instanceof Number
                    ? "the number " + value
                    : "an object of type " + value.getClass().getTypeName();
        }
    }

    /** {@code null}, or a key without a value. */
    record Null(Origin origin) implements ConfigNode {

        @Override
        public Null withOriginsOf(ConfigNode source) {
            return source instanceof Null ? new Null(source.origin()) : this;
        }

        @Override
        public String describe() {
            return "null";
        }
    }
}
