package dev.saccade.cli;

import static java.util.stream.Collectors.joining;

import com.google.common.base.CaseFormat;
import com.google.common.collect.Maps;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.config.Origin;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Range;
import dev.saccade.core.components.Unwrapped;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Finds all numeric settings of a config, also in nested components, empty lists, maps and optional
 * sections.
 */
final class Numbers {

    private static final Origin ORIGIN = new Origin("hostile.yaml", 7, 3);

    private static final ConfigNode.Mapping EMPTY = new ConfigNode.Mapping(Map.of(), ORIGIN);

    /** Values to fill an empty list, map or section with. */
    private static final List<Number> FILLINGS = List.of(1L, 0.5, 64L, 512L);

    private static final int MAX_ITEMS = 4;

    /**
     * A number of a config.
     *
     * @param root the record that the config describes
     * @param path from there, such as {@code nms.score_thr} or {@code depths[2]}
     * @param type of the component, or of the items of its list
     * @param with gives the config with another number at this place
     */
    record Place(
            Record root, String path, Class<?> type, Function<Number, ConfigNode.Mapping> with) {

        /** Returns the start of the message about the number: line and key. */
        String message() {
            return ORIGIN + ": " + path;
        }

        /** Returns whether it is the first item of a list, or not in a list. */
        boolean isFirst() {
            return !path.matches(".*\\[[1-9]\\d*].*");
        }

        /** Returns whether the number is an integer. */
        boolean isInteger() {
            return !Set.of(double.class, Double.class, float.class, Float.class).contains(type);
        }

        /** Binds the config with this number. */
        Record bind(Number value) {
            return Configs.bind(with.apply(value), root.getClass());
        }

        @Override
        public String toString() {
            String name = root instanceof ComponentConfig part ? part.type() : "";
            return (name.isEmpty() ? root.getClass().getSimpleName() : name) + "." + path;
        }
    }

    private final List<Place> places = new ArrayList<>();
    private final Deque<Record> roots;
    private final Set<Type> kinds = new HashSet<>();
    private final Map<String, String> sizes;

    private Numbers(List<Record> roots, Map<String, String> sizes) {
        this.roots = new ArrayDeque<>(roots);
        this.sizes = sizes;
    }

    /**
     * Returns all numbers that configs of some records can hold.
     *
     * @param sizes what parts have at keys of some names, in place of their defaults
     */
    static List<Place> below(List<Record> roots, Map<String, String> sizes) {
        Numbers numbers = new Numbers(roots, sizes);
        while (!numbers.roots.isEmpty()) {
            Record root = numbers.roots.remove();
            ConfigNode.Mapping config = Configs.unbind(root);
            numbers.visit(root, root.getClass(), config, "", node -> (ConfigNode.Mapping) node);
        }
        return numbers.places;
    }

    private void visit(
            Record root,
            Type type,
            ConfigNode node,
            String path,
            Function<ConfigNode, ConfigNode.Mapping> put) {
        if (isNumber(type)) {
            places.add(new Place(root, path, (Class<?>) type, n -> put.apply(scalar(n))));
        } else if (type == Range.class) {
            places.add(new Place(root, path, double.class, n -> put.apply(scalar(n))));
        } else if (type instanceof Class<?> plain && plain.isRecord()) {
            ConfigNode.Mapping section =
                    node instanceof ConfigNode.Mapping written ? written : EMPTY;
            for (RecordComponent component : plain.getRecordComponents()) {
                if (component.isAnnotationPresent(Unwrapped.class)) {
                    visit(root, component.getType(), section, path, put);
                    continue;
                }
                String key = key(component);
                visit(
                        root,
                        component.getGenericType(),
                        section.get(key).orElse(new ConfigNode.Null(ORIGIN)),
                        path.isEmpty() ? key : path + "." + key,
                        value -> put.apply(with(section, key, value)));
            }
        } else if (isPart(type)) {
            meet(type);
        } else if (type instanceof ParameterizedType generic) {
            visit(root, generic, node, path, put);
        }
    }

    private void visit(
            Record root,
            ParameterizedType type,
            ConfigNode written,
            String path,
            Function<ConfigNode, ConfigNode.Mapping> put) {
        Type[] arguments = type.getActualTypeArguments();
        Type inner = arguments[arguments.length - 1];
        ConfigNode node =
                isEmpty(written) && holdsNumbers(inner) ? filling(root, type, path, put) : written;
        if (isEmpty(written) && !holdsNumbers(inner)) {
            meet(inner);
        } else if (type.getRawType() == Optional.class) {
            visit(root, inner, node, path, put);
        } else if (node instanceof ConfigNode.Sequence list) {
            for (int i = 0; i < list.items().size(); i++) {
                int place = i;
                visit(
                        root,
                        inner,
                        list.items().get(i),
                        path + "[" + i + "]",
                        item -> put.apply(with(list, place, item)));
            }
        } else if (node instanceof ConfigNode.Mapping map) {
            map.entries()
                    .forEach(
                            (key, value) ->
                                    visit(
                                            root,
                                            inner,
                                            value,
                                            path + "." + key,
                                            item -> put.apply(with(map, key, item))));
        }
    }

    /** Visits all components of a type, or of the items of a list. */
    private void meet(Type type) {
        if (type instanceof ParameterizedType generic) {
            meet(generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1]);
        } else if (isPart(type) && kinds.add(type)) {
            Configs.registered(((Class<?>) type).asSubclass(ComponentConfig.class))
                    .values()
                    .forEach(part -> roots.add(sized(Configs.of(part.asSubclass(Record.class)))));
        }
    }

    private Record sized(Record part) {
        ConfigNode.Mapping config = Configs.unbind(part);
        String others =
                Maps.filterKeys(sizes, key -> config.get(key).isPresent()).entrySet().stream()
                        .map(size -> size.getKey() + ": " + size.getValue() + "\n")
                        .collect(joining());
        return others.isEmpty()
                ? part
                : Configs.bind(
                        config.mergedWith(ConfigFile.parse(others, "sizes.yaml")), part.getClass());
    }

    /** Returns a valid value for an empty place. */
    private static ConfigNode filling(
            Record root, Type type, String path, Function<ConfigNode, ConfigNode.Mapping> put) {
        for (Number number : FILLINGS) {
            for (int items = 1; items <= MAX_ITEMS; items++) {
                ConfigNode node = sample(type, number, items);
                try {
                    Configs.bind(put.apply(node), root.getClass());
                    return node;
                } catch (SaccadeException e) {
                    // Try the next value.
                }
            }
        }
        ConfigNode ascending = new ConfigNode.Sequence(List.of(scalar(0), scalar(255)), ORIGIN);
        try {
            Configs.bind(put.apply(ascending), root.getClass());
        } catch (SaccadeException e) {
            throw new AssertionError(root.getClass() + ": " + path + ": cannot be filled", e);
        }
        return ascending;
    }

    private static ConfigNode sample(Type type, Number number, int items) {
        if (isNumber(type)) {
            return scalar(number);
        }
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            ConfigNode item = sample(arguments[arguments.length - 1], number, items);
            if (generic.getRawType() == List.class) {
                boolean nested = item instanceof ConfigNode.Sequence;
                return new ConfigNode.Sequence(
                        Collections.nCopies(nested ? 1 : items, item), ORIGIN);
            }
            return generic.getRawType() == Map.class
                    ? new ConfigNode.Mapping(Map.of("bias", item), ORIGIN)
                    : item;
        }
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        for (RecordComponent component : ((Class<?>) type).getRecordComponents()) {
            if (isNumber(component.getType())) {
                entries.put(key(component), scalar(number));
            }
        }
        return new ConfigNode.Mapping(entries, ORIGIN);
    }

    private static String key(RecordComponent component) {
        return CaseFormat.LOWER_CAMEL.to(CaseFormat.LOWER_UNDERSCORE, component.getName());
    }

    private static boolean isNumber(Type type) {
        return type instanceof Class<?> plain
                && (Number.class.isAssignableFrom(plain)
                        || Set.<Class<?>>of(int.class, long.class, float.class, double.class)
                                .contains(plain));
    }

    private static boolean isPart(Type type) {
        return type instanceof Class<?> kind
                && kind.isInterface()
                && ComponentConfig.class.isAssignableFrom(kind);
    }

    private static boolean holdsNumbers(Type type) {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            return holdsNumbers(arguments[arguments.length - 1]);
        }
        return isNumber(type)
                || (type instanceof Class<?> plain
                        && plain.isRecord()
                        && Arrays.stream(plain.getRecordComponents())
                                .anyMatch(c -> holdsNumbers(c.getGenericType())));
    }

    private static boolean isEmpty(ConfigNode node) {
        return node instanceof ConfigNode.Null
                || (node instanceof ConfigNode.Sequence list && list.items().isEmpty())
                || (node instanceof ConfigNode.Mapping map && map.entries().isEmpty());
    }

    private static ConfigNode.Scalar scalar(Number value) {
        return new ConfigNode.Scalar(value, ORIGIN);
    }

    private static ConfigNode.Mapping with(ConfigNode.Mapping map, String key, ConfigNode value) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>(map.entries());
        entries.put(key, value);
        return new ConfigNode.Mapping(entries, ORIGIN);
    }

    private static ConfigNode.Sequence with(ConfigNode.Sequence list, int place, ConfigNode item) {
        List<ConfigNode> items = new ArrayList<>(list.items());
        items.set(place, item);
        return new ConfigNode.Sequence(items, ORIGIN);
    }
}
