package dev.saccade.config;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Range;
import dev.saccade.core.components.Unwrapped;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Creates records from config trees; see {@link Configs}.
 *
 * <p>Collects all problems: methods that fail add a problem and return an empty result.
 */
final class Binding {

    static final String TYPE = "type";
    static final String VARIANT = "variant";

    /**
     * A value to bind.
     *
     * @param path dotted key from the root
     * @param fallback default of the setting, or null; nested settings get their defaults from it
     */
    private record Site(ConfigNode node, String path, Object fallback) {

        Site key(String key, ConfigNode value, Object defaultValue) {
            return new Site(value, path.isEmpty() ? key : path + "." + key, defaultValue);
        }

        Site item(int index, ConfigNode value) {
            return new Site(value, path + "[" + index + "]", null);
        }

        /** Returns the setting that a problem of a record refers to. */
        Site of(Checks.Problem problem) {
            return key(problem.key(), node.nearest(problem.key()), null);
        }
    }

    private final Problems problems;
    private final Components components = new Components();

    /** Number of missing required settings. */
    private int missing;

    private Binding(Problems problems) {
        this.problems = problems;
    }

    /**
     * Returns the record that a config describes.
     *
     * @param problems found so far
     * @throws SaccadeException of kind user that lists every problem
     */
    static <T extends Record> T bind(ConfigNode config, Class<T> type, Problems problems) {
        Binding binding = new Binding(problems);
        Optional<Object> bound = binding.value(type, new Site(config, "", null));
        binding.problems.throwIfAny("config");
        return type.cast(bound.orElseThrow());
    }

    /** Returns the record with all defaults; empty if a setting is required. */
    static Optional<Object> defaults(Class<? extends Record> type) {
        return byDefault(type.getName(), type, Defaults.EMPTY, Optional.empty());
    }

    /**
     * Converts {@code node}, the default of a component; empty if it lacks required settings.
     *
     * @param fallback defaults of nested settings that {@code node} omits
     */
    static Optional<Object> annotated(
            RecordComponent component, ConfigNode node, Optional<Object> fallback) {
        String name = component.getDeclaringRecord().getName() + "." + component.getName();
        return byDefault(name, component.getGenericType(), node, fallback);
    }

    private static Optional<Object> byDefault(
            String name, Type type, ConfigNode node, Optional<Object> fallback) {
        Binding binding = new Binding(new Problems());
        Optional<Object> value = binding.value(type, new Site(node, "", fallback.orElse(null)));
        if (binding.missing < binding.problems.messages().size()) {
            binding.problems.throwIfAny("the default of " + name);
        }
        return value;
    }

    private Optional<Object> value(Type type, Site site) {
        if (type instanceof ParameterizedType generic) {
            Type raw = generic.getRawType();
            Type[] arguments = generic.getActualTypeArguments();
            if (raw == Optional.class) {
                return optional(arguments[0], site);
            }
            if (raw == List.class) {
                return list(arguments[0], site);
            }
            if (raw == Map.class && arguments[0] == String.class) {
                return map(arguments[1], site);
            }
        } else if (type instanceof Class<?> plain) {
            if (plain == Range.class) {
                return range(site);
            }
            if (plain.isRecord()) {
                return mapping(site, "a map")
                        .flatMap(map -> record(plain.asSubclass(Record.class), map, site));
            }
            if (plain.isInterface() && ComponentConfig.class.isAssignableFrom(plain)) {
                return mapping(site, "a map with a type")
                        .flatMap(
                                map ->
                                        component(
                                                plain.asSubclass(ComponentConfig.class),
                                                map,
                                                site));
            }
            if (Scalars.isScalar(plain)) {
                return scalar(plain, site);
            }
        }
        throw SaccadeException.internal(
                null, "%s: type %s is not supported in configs", site.path(), type);
    }

    private Optional<ConfigNode.Mapping> mapping(Site site, String expected) {
        if (site.node() instanceof ConfigNode.Mapping mapping) {
            return Optional.of(mapping);
        }
        wrong(site, expected);
        return Optional.empty();
    }

    private Optional<Object> scalar(Class<?> type, Site site) {
        if (!(site.node() instanceof ConfigNode.Scalar scalar)) {
            return wrong(site, Scalars.expected(type));
        }
        try {
            return Optional.of(Scalars.fromConfig(type, scalar.value()));
        } catch (IllegalArgumentException e) {
            return wrong(site, e.getMessage());
        }
    }

    private Optional<Object> range(Site site) {
        if (site.node() instanceof ConfigNode.Scalar) {
            return value(double.class, site).map(high -> new Range(0, (double) high));
        }
        if (site.node() instanceof ConfigNode.Sequence pair && pair.items().size() == 2) {
            return list(Double.class, site)
                    .map(ends -> (List<?>) ends)
                    .map(ends -> new Range((double) ends.get(0), (double) ends.get(1)));
        }
        return wrong(site, "a number or [LOW, HIGH]");
    }

    private Optional<Object> optional(Type type, Site site) {
        if (site.node() instanceof ConfigNode.Null) {
            return Optional.of(Optional.empty());
        }
        Object defaultValue =
                site.fallback() instanceof Optional<?> present ? present.orElse(null) : null;
        return value(type, new Site(site.node(), site.path(), defaultValue)).map(Optional::of);
    }

    private Optional<Object> list(Type type, Site site) {
        if (!(site.node() instanceof ConfigNode.Sequence sequence)) {
            return wrong(site, "a list");
        }
        List<Object> items = new ArrayList<>();
        for (int i = 0; i < sequence.items().size(); i++) {
            value(type, site.item(i, sequence.items().get(i))).ifPresent(items::add);
        }
        boolean complete = items.size() == sequence.items().size();
        return complete ? Optional.of(List.copyOf(items)) : Optional.empty();
    }

    private Optional<Object> map(Type type, Site site) {
        if (!(site.node() instanceof ConfigNode.Mapping mapping)) {
            return wrong(site, "a map");
        }
        Map<String, Object> items = new LinkedHashMap<>();
        for (Map.Entry<String, ConfigNode> item : mapping.entries().entrySet()) {
            value(type, site.key(item.getKey(), item.getValue(), null))
                    .ifPresent(value -> items.put(item.getKey(), value));
        }
        boolean complete = items.size() == mapping.entries().size();
        return complete ? Optional.of(ImmutableMap.copyOf(items)) : Optional.empty();
    }

    private Optional<Object> component(
            Class<? extends ComponentConfig> kind, ConfigNode.Mapping node, Site site) {
        Optional<ConfigNode> type = node.get(TYPE);
        if (type.isEmpty() && site.fallback() instanceof Record defaultValue) {
            return record(defaultValue.getClass(), node, site);
        }
        Map<String, ? extends Class<? extends ComponentConfig>> known = components.registered(kind);
        if (type.isEmpty()) {
            return wrong(site.key(TYPE, node, null), "one of " + known.keySet());
        }
        String name = text(type.get());
        return known.containsKey(name)
                ? record(known.get(name).asSubclass(Record.class), node, site)
                : unknown(site.key(TYPE, type.get(), null), "type", name, known.keySet());
    }

    private Optional<Object> record(
            Class<? extends Record> type, ConfigNode.Mapping node, Site site) {
        Optional<Defaults> defaults = defaults(type, node, site);
        if (defaults.isEmpty()) {
            return Optional.empty();
        }
        int before = problems.messages().size();
        Optional<Object> created = settings(type, node, defaults.get(), site);
        Set<String> keys = Defaults.keys(type);
        boolean isComponent = ComponentConfig.class.isAssignableFrom(type);
        node.entries()
                .forEach(
                        (key, value) -> {
                            if (!keys.contains(key) && !(isComponent && key.equals(TYPE))) {
                                unknownKey(site.key(key, value, null), key, keys);
                            }
                        });
        if (problems.messages().size() > before) {
            return Optional.empty();
        }
        return created.flatMap(value -> checkType(value, node, site));
    }

    /** Returns the defaults of the setting or selected variant; empty if the variant is unknown. */
    private Optional<Defaults> defaults(
            Class<? extends Record> type, ConfigNode.Mapping node, Site site) {
        Map<String, Defaults> variants = Defaults.variants(type);
        if (variants.isEmpty() || node.get(VARIANT).isEmpty()) {
            return Optional.of(Defaults.of(type, site.fallback()));
        }
        ConfigNode selected = node.get(VARIANT).get();
        String name = text(selected);
        if (!variants.containsKey(name)) {
            unknown(site.key(VARIANT, selected, null), VARIANT, name, variants.keySet());
        }
        return Optional.ofNullable(variants.get(name));
    }

    /**
     * Creates a record from the settings in a map; ignores other keys. Replaces invalid settings
     * with their defaults, so that the record can check the other settings.
     */
    private Optional<Object> settings(
            Class<? extends Record> type, ConfigNode.Mapping node, Defaults defaults, Site site) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        Set<String> failed = new HashSet<>();
        for (int i = 0; i < components.length; i++) {
            Optional<Object> defaultValue = defaults.get(components[i]);
            Optional<Object> value = setting(components[i], node, defaultValue, site);
            values[i] = value.or(() -> defaultValue).orElse(null);
            if (value.isEmpty()) {
                failed.add(Records.key(components[i]));
            }
        }
        try {
            Object created = Records.create(type, values);
            return failed.isEmpty() ? Optional.of(created) : Optional.empty();
        } catch (Checks.InvalidSettings e) {
            e.problems().stream()
                    .filter(each -> failed.isEmpty() || each.isSingleSetting())
                    .filter(each -> !failed.contains(ConfigNode.steps(each.key()).get(0)))
                    .forEach(each -> problem(site.of(each), each.message()));
        } catch (IllegalArgumentException e) {
            if (failed.isEmpty()) {
                problem(site, e.getMessage() == null ? e.toString() : e.getMessage());
            }
        }
        return Optional.empty();
    }

    private Optional<Object> setting(
            RecordComponent component,
            ConfigNode.Mapping node,
            Optional<Object> defaultValue,
            Site site) {
        if (component.isAnnotationPresent(Unwrapped.class)) {
            Class<? extends Record> inside = component.getType().asSubclass(Record.class);
            Defaults defaults =
                    defaultValue
                            .map(value -> Defaults.of((Record) value))
                            .orElseGet(() -> Defaults.of(inside));
            return settings(inside, node, defaults, site);
        }
        String key = Records.key(component);
        Optional<ConfigNode> value = node.get(key);
        if (value.isPresent()) {
            return value(
                    component.getGenericType(),
                    site.key(key, value.get(), defaultValue.orElse(null)));
        }
        if (defaultValue.isEmpty()) {
            problem(site.key(key, node, null), "missing; this key is required");
            missing++;
        }
        return defaultValue;
    }

    /** Returns the value; rejects a {@code type} that differs from the setting's fixed type. */
    private Optional<Object> checkType(Object value, ConfigNode.Mapping node, Site site) {
        if (value instanceof ComponentConfig component && node.get(TYPE).isPresent()) {
            ConfigNode type = node.get(TYPE).get();
            if (!text(type).equals(component.type())) {
                return wrong(site.key(TYPE, type, null), component.type());
            }
        }
        return Optional.of(value);
    }

    private static String text(ConfigNode node) {
        return node instanceof ConfigNode.Scalar scalar ? scalar.value().toString() : "";
    }

    private Optional<Object> wrong(Site site, String expected) {
        boolean hasDefault = site.node() instanceof ConfigNode.Null && site.fallback() != null;
        String hint = hasDefault ? "; remove the key to use the default" : "";
        return problem(
                site, Text.format("got %s, expected %s%s", site.node().describe(), expected, hint));
    }

    private Optional<Object> unknown(Site site, String what, String name, Set<String> known) {
        String suggestion = Suggestions.suggestion(name, known);
        return problem(
                site, Text.format("unknown %s %s%s%s", what, name, suggestion, known(known)));
    }

    private void unknownKey(Site site, String key, Set<String> known) {
        String hint = ToolkitTerms.hintForKey(site.path(), site.node());
        String suggestion = hint.isEmpty() ? Suggestions.suggestion(key, known) : hint;
        problem(site, "unknown key" + suggestion + known(known));
    }

    private static String known(Set<String> known) {
        return Text.format(" (known: %s)", known.isEmpty() ? "none" : String.join(", ", known));
    }

    private Optional<Object> problem(Site site, String message) {
        String place = site.path().isEmpty() ? "" : site.path() + ": ";
        problems.add("%s: %s%s", site.node().origin(), place, message);
        return Optional.empty();
    }
}
