package dev.saccade.config;

import com.google.common.base.CharMatcher;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Ints;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.Range;
import dev.saccade.core.parts.Retired;
import dev.saccade.core.parts.Unwrapped;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes records of config trees; see {@link Configs}. */
final class Binding {

    static final String TYPE = "type";
    static final String VARIANT = "variant";

    /** What a message is about, as {@code necks[0].num_outs} of {@code necks[0].num_outs: ...}. */
    private static final Pattern WAY = Pattern.compile("[\\w.\\[\\]]+(?=:)");

    private static final Pattern STEP = Pattern.compile("\\.?(?<key>\\w+)|\\[(?<item>\\d+)]");

    /** What a value that is wrong becomes until all problems are reported. */
    private static final Object FAILED = new Object();

    private final Problems problems = new Problems();
    private final Parts parts = new Parts();

    /** How many of the problems are settings without a value. */
    private int lacking;

    private Binding() {}

    /**
     * Returns the record that a config describes.
     *
     * @throws SaccadeException of kind user that lists every mistake
     */
    static <T extends Record> Object bind(ConfigNode config, Class<T> type) {
        Binding binding = new Binding();
        Object bound = binding.value(type, config, null, "");
        binding.problems.throwIfAny("config");
        return bound;
    }

    /** Returns the record of all defaults; nothing, if a setting is required. */
    static Optional<Object> defaults(Class<? extends Record> type) {
        return byDefault(type.getName(), type, Defaults.NOTHING, Optional.empty());
    }

    /**
     * Returns what an annotation says of a component; nothing, if it is a record that has required
     * settings besides.
     *
     * @param fallback gives what the annotation does not say
     */
    static Optional<Object> annotated(
            RecordComponent component, ConfigNode node, Optional<Object> fallback) {
        String name = component.getDeclaringRecord().getName() + "." + component.getName();
        return byDefault(name, component.getGenericType(), node, fallback);
    }

    private static Optional<Object> byDefault(
            String name, Type type, ConfigNode node, Optional<Object> fallback) {
        Binding binding = new Binding();
        Object value = binding.value(type, node, fallback.orElse(null), "");
        if (binding.lacking < binding.problems.messages().size()) {
            binding.problems.throwIfAny("the default of " + name);
        }
        return Optional.of(value).filter(made -> made != FAILED);
    }

    /**
     * Returns a value of a type, or {@link #FAILED} when its problems have been noted.
     *
     * @param fallback the default of the place, null where it has none; gives the defaults below
     */
    private Object value(Type type, ConfigNode node, Object fallback, String path) {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            if (generic.getRawType() == Optional.class) {
                return optional(arguments[0], node, fallback, path);
            }
            if (generic.getRawType() == List.class) {
                return list(arguments[0], node, fallback, path);
            }
            if (generic.getRawType() == Map.class && arguments[0] == String.class) {
                return map(arguments[1], node, fallback, path);
            }
        } else if (type instanceof Class<?> plain) {
            if (plain == Range.class) {
                return range(node, fallback, path);
            }
            if (plain.isRecord()) {
                return node instanceof ConfigNode.Mapping mapping
                        ? record(plain.asSubclass(Record.class), mapping, fallback, path)
                        : wrong(node, fallback, path, "a map");
            }
            if (plain.isInterface() && PartConfig.class.isAssignableFrom(plain)) {
                return node instanceof ConfigNode.Mapping mapping
                        ? part(plain.asSubclass(PartConfig.class), mapping, fallback, path)
                        : wrong(node, fallback, path, "a map with a type");
            }
            if (Scalars.isScalar(plain)) {
                return scalar(plain, node, fallback, path);
            }
        }
        throw SaccadeException.internal(null, "%s: configs cannot hold a %s", path, type);
    }

    private Object scalar(Class<?> type, ConfigNode node, Object fallback, String path) {
        if (!(node instanceof ConfigNode.Scalar scalar)) {
            return wrong(node, fallback, path, Scalars.expected(type));
        }
        try {
            return Scalars.fromConfig(type, scalar.value());
        } catch (IllegalArgumentException e) {
            return wrong(node, path, e.getMessage());
        }
    }

    private Object range(ConfigNode node, Object fallback, String path) {
        if (node instanceof ConfigNode.Scalar) {
            Object high = value(double.class, node, null, path);
            return high == FAILED ? FAILED : new Range(0, (double) high);
        }
        if (node instanceof ConfigNode.Sequence sequence && sequence.items().size() == 2) {
            Object ends = list(Double.class, node, null, path);
            return ends instanceof List<?> both
                    ? new Range((double) both.get(0), (double) both.get(1))
                    : FAILED;
        }
        return wrong(node, fallback, path, "a number or [LOW, HIGH]");
    }

    private Object optional(Type type, ConfigNode node, Object fallback, String path) {
        if (node instanceof ConfigNode.Nothing) {
            return Optional.empty();
        }
        Object inner = fallback instanceof Optional<?> old ? old.orElse(null) : null;
        Object value = value(type, node, inner, path);
        return value == FAILED ? FAILED : Optional.of(value);
    }

    private Object list(Type type, ConfigNode node, Object fallback, String path) {
        if (!(node instanceof ConfigNode.Sequence sequence)) {
            return wrong(node, fallback, path, "a list");
        }
        List<Object> items = new ArrayList<>();
        for (ConfigNode item : sequence.items()) {
            items.add(value(type, item, null, path + "[" + items.size() + "]"));
        }
        return items.contains(FAILED) ? FAILED : List.copyOf(items);
    }

    private Object map(Type type, ConfigNode node, Object fallback, String path) {
        if (!(node instanceof ConfigNode.Mapping mapping)) {
            return wrong(node, fallback, path, "a map");
        }
        Map<String, Object> items = new LinkedHashMap<>();
        mapping.entries()
                .forEach((key, item) -> items.put(key, value(type, item, null, join(path, key))));
        return items.containsValue(FAILED) ? FAILED : ImmutableMap.copyOf(items);
    }

    private Object part(
            Class<? extends PartConfig> kind,
            ConfigNode.Mapping node,
            Object fallback,
            String path) {
        Map<String, ? extends Class<? extends PartConfig>> known = parts.known(kind);
        Optional<ConfigNode> type = node.get(TYPE);
        if (type.isEmpty() && fallback != null) {
            return record(fallback.getClass().asSubclass(Record.class), node, fallback, path);
        }
        String name =
                type.isPresent() && type.get() instanceof ConfigNode.Scalar scalar
                        ? scalar.value().toString()
                        : "";
        Class<? extends PartConfig> chosen = known.get(name);
        if (chosen != null) {
            return record(chosen.asSubclass(Record.class), node, fallback, path);
        }
        return type.isEmpty()
                ? wrong(node, join(path, TYPE), "one of " + known.keySet())
                : unknown(type.get(), join(path, TYPE), "type " + name, name, known.keySet());
    }

    private Object record(
            Class<? extends Record> type,
            ConfigNode.Mapping written,
            Object fallback,
            String path) {
        ConfigNode.Mapping node = withoutRetiredKeys(written, type, path);
        Optional<Defaults> defaults = defaults(type, node, fallback, path);
        if (defaults.isEmpty()) {
            return FAILED;
        }
        Object made = settings(type, node, defaults.get(), path);
        Set<String> keys = Defaults.keys(type);
        for (Map.Entry<String, ConfigNode> entry : node.entries().entrySet()) {
            String key = entry.getKey();
            boolean named = key.equals(TYPE) && PartConfig.class.isAssignableFrom(type);
            if (!keys.contains(key) && !named) {
                made = unknown(entry.getValue(), join(path, key), "key", key, keys);
            }
        }
        return made == FAILED ? FAILED : named(made, node, path);
    }

    /** Returns a section with the values of the keys of earlier versions where they belong now. */
    private ConfigNode.Mapping withoutRetiredKeys(
            ConfigNode.Mapping written, Class<? extends Record> type, String path) {
        ConfigNode.Mapping node = written;
        for (Retired retired : type.getAnnotationsByType(Retired.class)) {
            Optional<ConfigNode> old = written.get(retired.key());
            if (old.isPresent() && !retired.now().isEmpty() && written.has(retired.now())) {
                problems.add(
                        "%s: %s: is the former name of %s, which is there too; remove one",
                        old.get().origin(), join(path, retired.key()), retired.now());
            }
            node = node.moved(retired.key(), retired.now());
        }
        return node;
    }

    /** Returns the record of the settings that a config has for it, whatever else it has. */
    private Object settings(
            Class<? extends Record> type, ConfigNode.Mapping node, Defaults defaults, String path) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            values[i] = setting(components[i], node, defaults.get(components[i]), path);
        }
        if (Arrays.asList(values).contains(FAILED)) {
            refuseOthers(type, values, defaults, node, path);
            return FAILED;
        }
        try {
            return Records.make(type, values);
        } catch (Checks.Refusal e) {
            e.problems().forEach(problem -> refused(node, path, problem));
        } catch (IllegalArgumentException e) {
            refused(node, path, e.getMessage() == null ? e.toString() : e.getMessage());
        }
        return FAILED;
    }

    private Object setting(
            RecordComponent component,
            ConfigNode.Mapping node,
            Optional<Object> fallback,
            String path) {
        if (component.isAnnotationPresent(Unwrapped.class)) {
            Class<? extends Record> inside = component.getType().asSubclass(Record.class);
            Defaults defaults =
                    fallback.map(usual -> Defaults.of((Record) usual))
                            .orElseGet(() -> Defaults.of(inside));
            return settings(inside, node, defaults, path);
        }
        String key = Records.key(component);
        Optional<ConfigNode> value = node.get(key);
        if (value.isPresent()) {
            return value(
                    component.getGenericType(),
                    value.get(),
                    fallback.orElse(null),
                    join(path, key));
        }
        if (fallback.isPresent()) {
            return fallback.get();
        }
        problems.add("%s: %s: missing; it has no default", node.origin(), join(path, key));
        lacking++;
        return FAILED;
    }

    /**
     * Notes what a record says about the bounds of other values than those that have failed; these
     * are as by default for once.
     */
    private void refuseOthers(
            Class<? extends Record> type,
            Object[] values,
            Defaults defaults,
            ConfigNode.Mapping node,
            String path) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] others = values.clone();
        Set<String> failed = new HashSet<>();
        for (int i = 0; i < others.length; i++) {
            if (others[i] == FAILED) {
                failed.add(Records.key(components[i]));
                others[i] = defaults.get(components[i]).orElse(null);
            }
        }
        try {
            Records.make(type, others);
        } catch (Checks.Refusal e) {
            e.problems().stream()
                    .filter(problem -> !failed.contains(key(problem)))
                    .forEach(problem -> refused(node, path, problem));
        } catch (IllegalArgumentException e) {
            // What does not go together, or is missing, is told once each value is right.
        }
    }

    /** Returns the defaults of the place, or of the variant that the config asks for. */
    private Optional<Defaults> defaults(
            Class<? extends Record> type, ConfigNode.Mapping node, Object fallback, String path) {
        Map<String, Defaults> variants = Defaults.variants(type);
        Optional<ConfigNode> wanted = node.get(VARIANT).filter(any -> !variants.isEmpty());
        if (wanted.isEmpty()) {
            return Optional.of(
                    fallback != null && fallback.getClass() == type
                            ? Defaults.of((Record) fallback)
                            : Defaults.of(type));
        }
        String name =
                wanted.get() instanceof ConfigNode.Scalar scalar ? scalar.value().toString() : "";
        if (!variants.containsKey(name)) {
            unknown(wanted.get(), join(path, VARIANT), "variant " + name, name, variants.keySet());
        }
        return Optional.ofNullable(variants.get(name));
    }

    /** Notes what a record says about its values; {@code key: ...} is said of that key. */
    private void refused(ConfigNode.Mapping node, String path, String message) {
        String key = key(message);
        Origin origin = place(node, message).origin();
        String separator = path.isEmpty() ? "" : node.get(key).isPresent() ? "." : ": ";
        problems.add("%s: %s%s%s", origin, path, separator, message);
    }

    /**
     * Returns what a message is about: the third item for {@code depths[2]: ...}, or what comes
     * closest to it.
     */
    private static ConfigNode place(ConfigNode.Mapping node, String message) {
        ConfigNode place = node;
        Matcher way = WAY.matcher(message);
        Matcher step = STEP.matcher(way.lookingAt() ? way.group() : "");
        while (step.lookingAt()) {
            Optional<ConfigNode> next = next(place, step);
            if (next.isEmpty()) {
                break;
            }
            place = next.get();
            step.region(step.end(), step.regionEnd());
        }
        return place;
    }

    private static Optional<ConfigNode> next(ConfigNode place, Matcher step) {
        if (place instanceof ConfigNode.Mapping map && step.group("key") != null) {
            return map.get(step.group("key"));
        }
        if (place instanceof ConfigNode.Sequence list && step.group("item") != null) {
            return Optional.ofNullable(Ints.tryParse(step.group("item")))
                    .filter(item -> item < list.items().size())
                    .map(list.items()::get);
        }
        return Optional.empty();
    }

    /** Returns the key that a message begins with: {@code depths} of {@code depths[2]: ...}. */
    private static String key(String message) {
        return message.substring(0, Math.max(CharMatcher.anyOf("[.:").indexIn(message), 0));
    }

    /** Refuses a {@code type} other than that of a component whose place leaves no choice. */
    private Object named(Object value, ConfigNode.Mapping node, String path) {
        if (!(value instanceof PartConfig part) || node.get(TYPE).isEmpty()) {
            return value;
        }
        ConfigNode type = node.get(TYPE).get();
        boolean matches =
                type instanceof ConfigNode.Scalar scalar && scalar.value().equals(part.type());
        return matches ? value : wrong(type, join(path, TYPE), part.type());
    }

    /** Refuses what stands in a place, which has a default unless that is null. */
    private Object wrong(ConfigNode node, Object fallback, String path, String expected) {
        boolean byDefault = node instanceof ConfigNode.Nothing && fallback != null;
        return wrong(node, path, expected + (byDefault ? "; leave it out for the default" : ""));
    }

    private Object wrong(ConfigNode node, String path, String expected) {
        problems.add(
                "%s: %s: got %s, expected %s",
                node.origin(), path.isEmpty() ? "root" : path, node.describe(), expected);
        return FAILED;
    }

    private Object unknown(
            ConfigNode node, String path, String what, String name, Set<String> known) {
        String foreign = what.equals("key") ? ForeignWords.ofKey(path, node) : "";
        problems.add(
                "%s: %s: unknown %s%s (known: %s)",
                node.origin(),
                path,
                what,
                foreign.isEmpty() ? Nearest.suggestion(name, known) : foreign,
                known.isEmpty() ? "none" : String.join(", ", known));
        return FAILED;
    }

    private static String join(String path, String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
