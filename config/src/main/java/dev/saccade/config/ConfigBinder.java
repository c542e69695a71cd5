package dev.saccade.config;

import com.google.common.base.CharMatcher;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.PartConfig;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes records of config trees, and config trees of records.
 *
 * <p>The keys of a section are the components of its record in snake case. A missing key takes the
 * default: what the {@code variant} of a component has there, else what the enclosing record's
 * default has, else what the record's no-argument constructor gives; where there is none, the key
 * is required. Components are {@code int}, {@code long}, {@code float}, {@code double}, {@code
 * boolean}, {@link String}, {@link java.nio.file.Path}, enums (in lower snake case), records,
 * {@link Optional} (nothing or {@code null} is empty), {@link List} and {@link Map} from strings,
 * and interfaces that extend {@link PartConfig}, whose record the key {@code type} chooses among
 * those that {@link java.util.ServiceLoader} finds.
 */
public final class ConfigBinder {

    static final String TYPE = "type";
    static final String VARIANT = "variant";

    private static final Pattern INDEX = Pattern.compile("\\[(\\d+)]");

    /** What a value that is wrong becomes until all problems are reported. */
    private static final Object FAILED = new Object();

    private final Problems problems = new Problems();

    private ConfigBinder() {}

    /**
     * Returns the record that a config describes.
     *
     * @param config a whole config, or a section of one
     * @throws SaccadeException of kind user that lists every unknown key, wrong type, unknown
     *     component and impossible value with file, line and dotted key
     */
    public static <T extends Record> T bind(ConfigNode config, Class<T> type) {
        ConfigBinder binder = new ConfigBinder();
        Object bound = binder.value(type, config, null, "");
        binder.problems.throwIfAny("config");
        return type.cast(bound);
    }

    /** Returns the config that {@link #bind} makes an equal record of, defaults written out. */
    public static ConfigNode.Mapping unbind(Record value) {
        return Unbinding.whole(value);
    }

    /**
     * Returns the config that {@link #bind} makes an equal record of, without what is as the
     * defaults have it; another {@code type} or {@code variant} laid over it brings its own.
     */
    public static ConfigNode.Mapping unbindChanges(Record value) {
        return Unbinding.changes(value);
    }

    /**
     * Returns the components that {@code type} may name where a config wants one of a kind, each
     * with its defaults, by type.
     *
     * @throws SaccadeException of kind user if two claim one type or one cannot be loaded
     */
    public static <P extends PartConfig> Map<String, P> known(Class<P> kind) {
        return Records.parts(kind);
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
                return list(arguments[0], node, path);
            }
            if (generic.getRawType() == Map.class && arguments[0] == String.class) {
                return map(arguments[1], node, path);
            }
        } else if (type instanceof Class<?> plain) {
            if (plain.isRecord()) {
                return node instanceof ConfigNode.Mapping mapping
                        ? record(plain.asSubclass(Record.class), mapping, fallback, path)
                        : wrong(node, path, "a map");
            }
            if (plain.isInterface() && PartConfig.class.isAssignableFrom(plain)) {
                return node instanceof ConfigNode.Mapping mapping
                        ? part(plain.asSubclass(PartConfig.class), mapping, fallback, path)
                        : wrong(node, path, "a map with a type");
            }
            if (Scalars.isScalar(plain)) {
                return scalar(plain, node, path);
            }
        }
        throw SaccadeException.internal(null, "%s: configs cannot hold a %s", path, type);
    }

    private Object scalar(Class<?> type, ConfigNode node, String path) {
        if (!(node instanceof ConfigNode.Scalar scalar)) {
            return wrong(node, path, Scalars.expected(type));
        }
        try {
            return Scalars.fromConfig(type, scalar.value());
        } catch (IllegalArgumentException e) {
            return wrong(node, path, e.getMessage());
        }
    }

    private Object optional(Type type, ConfigNode node, Object fallback, String path) {
        if (node instanceof ConfigNode.Nothing) {
            return Optional.empty();
        }
        Object inner = fallback instanceof Optional<?> old ? old.orElse(null) : null;
        Object value = value(type, node, inner, path);
        return value == FAILED ? FAILED : Optional.of(value);
    }

    private Object list(Type type, ConfigNode node, String path) {
        if (!(node instanceof ConfigNode.Sequence sequence)) {
            return wrong(node, path, "a list");
        }
        List<Object> items = new ArrayList<>();
        for (ConfigNode item : sequence.items()) {
            items.add(value(type, item, null, path + "[" + items.size() + "]"));
        }
        return items.contains(FAILED) ? FAILED : List.copyOf(items);
    }

    private Object map(Type type, ConfigNode node, String path) {
        if (!(node instanceof ConfigNode.Mapping mapping)) {
            return wrong(node, path, "a map");
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
        Map<String, ? extends PartConfig> known = known(kind);
        Optional<ConfigNode> type = node.get(TYPE);
        if (type.isEmpty() && fallback != null) {
            return record(fallback.getClass().asSubclass(Record.class), node, fallback, path);
        }
        Object name =
                type.isPresent() && type.get() instanceof ConfigNode.Scalar scalar
                        ? scalar.value()
                        : "";
        PartConfig chosen = known.get(name.toString());
        if (chosen == null) {
            ConfigNode place = type.orElse(node);
            return type.isEmpty()
                    ? wrong(place, join(path, TYPE), "one of " + known.keySet())
                    : unknown(
                            place,
                            join(path, TYPE),
                            "type " + name,
                            name.toString(),
                            known.keySet());
        }
        boolean same = fallback != null && fallback.getClass() == chosen.getClass();
        return record(
                chosen.getClass().asSubclass(Record.class), node, same ? fallback : chosen, path);
    }

    private Object record(
            Class<? extends Record> type, ConfigNode.Mapping node, Object fallback, String path) {
        boolean given = fallback != null && fallback.getClass() == type;
        Object defaults =
                variant(given ? fallback : Records.defaults(type).orElse(null), node, path);
        if (defaults == FAILED) {
            return FAILED;
        }
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        boolean failed = false;
        Set<String> keys = new LinkedHashSet<>();
        for (int i = 0; i < components.length; i++) {
            keys.add(Records.key(components[i]));
            values[i] = component(components[i], node, defaults, path);
            failed |= values[i] == FAILED;
        }
        for (Map.Entry<String, ConfigNode> entry : node.entries().entrySet()) {
            String key = entry.getKey();
            boolean named = key.equals(TYPE) && PartConfig.class.isAssignableFrom(type);
            if (!keys.contains(key) && !named) {
                unknown(entry.getValue(), join(path, key), "key", key, keys);
                failed = true;
            }
        }
        if (failed) {
            refuseOthers(type, values, defaults, node, path);
            return FAILED;
        }
        try {
            return named(Records.make(type, values), node, path);
        } catch (Checks.Refusal e) {
            e.problems().forEach(problem -> refused(node, path, problem));
        } catch (IllegalArgumentException e) {
            refused(node, path, e.getMessage());
        }
        return FAILED;
    }

    /**
     * Notes what a record says about the bounds of other values than those that have failed; these
     * are as by default for once.
     */
    private void refuseOthers(
            Class<? extends Record> type,
            Object[] values,
            Object defaults,
            ConfigNode.Mapping node,
            String path) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] others = values.clone();
        Set<String> failed = new HashSet<>();
        for (int i = 0; i < others.length; i++) {
            if (others[i] == FAILED) {
                failed.add(Records.key(components[i]));
                others[i] = defaults == null ? null : Records.get(components[i], defaults);
            }
        }
        try {
            Records.make(type, others);
        } catch (Checks.Refusal e) {
            e.problems().stream()
                    .filter(problem -> !failed.contains(key(problem)))
                    .forEach(problem -> refused(node, path, problem));
        } catch (IllegalArgumentException | SaccadeException e) {
            // What does not go together, or is missing, is told once each value is right.
        }
    }

    /** Returns the published member of the family that the config asks for, if it asks. */
    private Object variant(Object defaults, ConfigNode.Mapping node, String path) {
        Optional<ConfigNode> wanted = node.get(VARIANT);
        if (!(defaults instanceof PartConfig part)
                || part.variants().isEmpty()
                || wanted.isEmpty()) {
            return defaults;
        }
        Object name = wanted.get() instanceof ConfigNode.Scalar scalar ? scalar.value() : "";
        PartConfig variant = part.variants().get(name.toString());
        return variant != null
                ? variant
                : unknown(
                        wanted.get(),
                        join(path, VARIANT),
                        "variant " + name,
                        name.toString(),
                        part.variants().keySet());
    }

    /** Notes what a record says about its values; {@code key: ...} is said of that key. */
    private void refused(ConfigNode.Mapping node, String path, String message) {
        String key = key(message);
        Origin origin = place(node.get(key).orElse(node), message).origin();
        String separator = path.isEmpty() ? "" : node.get(key).isPresent() ? "." : ": ";
        problems.add("%s: %s%s%s", origin, path, separator, message);
    }

    /** Returns the item that a message is about: the third one for {@code depths[2]: ...}. */
    private static ConfigNode place(ConfigNode value, String message) {
        ConfigNode place = value;
        Matcher index = INDEX.matcher(message.substring(key(message).length()));
        while (place instanceof ConfigNode.Sequence list && index.lookingAt()) {
            place = list.items().get(Integer.parseInt(index.group(1)));
            index.region(index.end(), index.regionEnd());
        }
        return place;
    }

    /** Returns the key that a message begins with: {@code depths} of {@code depths[2]: ...}. */
    private static String key(String message) {
        return message.substring(0, Math.max(CharMatcher.anyOf("[:").indexIn(message), 0));
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

    private Object component(
            RecordComponent component, ConfigNode.Mapping node, Object defaults, String path) {
        String key = Records.key(component);
        Object fallback = defaults == null ? null : Records.get(component, defaults);
        Optional<ConfigNode> value = node.get(key);
        if (value.isPresent()) {
            return value(component.getGenericType(), value.get(), fallback, join(path, key));
        }
        if (fallback != null) {
            return fallback;
        }
        if (component.getType() == Optional.class) {
            return Optional.empty();
        }
        problems.add("%s: %s: missing; it has no default", node.origin(), join(path, key));
        return FAILED;
    }

    private Object wrong(ConfigNode node, String path, String expected) {
        problems.add(
                "%s: %s: got %s, expected %s",
                node.origin(), path.isEmpty() ? "root" : path, node.describe(), expected);
        return FAILED;
    }

    private Object unknown(
            ConfigNode node, String path, String what, String name, Set<String> known) {
        problems.add(
                "%s: %s: unknown %s%s (known: %s)",
                node.origin(),
                path,
                what,
                Nearest.of(name, known).map(near -> "; did you mean " + near + "?").orElse(""),
                known.isEmpty() ? "none" : String.join(", ", known));
        return FAILED;
    }

    private static String join(String path, String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
