package dev.saccade.config;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import com.google.errorprone.annotations.FormatMethod;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Default values of the settings of a record. */
final class Defaults {

    static final ConfigNode.Mapping EMPTY = new ConfigNode.Mapping(Map.of(), Origin.DEFAULT);

    /** Annotated defaults by component; cached, because nested configs read them often. */
    private static final ClassValue<Map<String, Optional<Object>>> ANNOTATED =
            new ClassValue<>() {
                @Override
                protected Map<String, Optional<Object>> computeValue(Class<?> type) {
                    return Arrays.stream(type.getRecordComponents())
                            .collect(toImmutableMap(RecordComponent::getName, Defaults::annotated));
                }
            };

    private static final ClassValue<Map<String, Defaults>> VARIANTS =
            new ClassValue<>() {
                @Override
                protected Map<String, Defaults> computeValue(Class<?> type) {
                    return readVariants(type.asSubclass(Record.class));
                }
            };

    private final Optional<Record> instance;
    private final ConfigNode.Mapping variant;

    private Defaults(Optional<Record> instance, ConfigNode.Mapping variant) {
        this.instance = instance;
        this.variant = variant;
    }

    /** Returns the values of a record as defaults. */
    static Defaults of(Record instance) {
        return new Defaults(Optional.of(instance), EMPTY);
    }

    /** Returns the values of {@code fallback} if it has this type, else the annotated defaults. */
    static Defaults of(Class<? extends Record> type, Object fallback) {
        return fallback != null && fallback.getClass() == type ? of((Record) fallback) : of(type);
    }

    /** Returns the annotated defaults and the settings of the default variant, if any. */
    static Defaults of(Class<? extends Record> type) {
        Map<String, Defaults> variants = variants(type);
        return variant(type)
                .map(component -> component.getAnnotation(Default.class))
                .map(defaultValue -> variants.get(defaultValue.value()))
                .orElse(new Defaults(Optional.empty(), EMPTY));
    }

    /** Returns the defaults of each variant by its name. */
    static Map<String, Defaults> variants(Class<? extends Record> type) {
        return VARIANTS.get(type);
    }

    private static Map<String, Defaults> readVariants(Class<? extends Record> type) {
        Optional<RecordComponent> selector = variant(type);
        if (selector.isEmpty()) {
            return Map.of();
        }
        Map<String, Defaults> variants = new LinkedHashMap<>();
        for (Variant variant : type.getAnnotationsByType(Variant.class)) {
            Map<String, ConfigNode> settings = new LinkedHashMap<>(settings(variant).entries());
            Set<String> unknown = Sets.difference(settings.keySet(), keys(type));
            if (!unknown.isEmpty()) {
                throw wrong(type, "@Variant(%s): unknown key %s", variant.name(), unknown);
            }
            settings.put(Binding.VARIANT, new ConfigNode.Scalar(variant.name(), Origin.DEFAULT));
            Defaults member =
                    new Defaults(
                            Optional.empty(), new ConfigNode.Mapping(settings, Origin.DEFAULT));
            if (variants.put(variant.name(), member) != null) {
                throw wrong(type, "@Variant(%s): duplicate name", variant.name());
            }
        }
        Default defaultValue = selector.get().getAnnotation(Default.class);
        if (defaultValue != null && !variants.containsKey(defaultValue.value())) {
            throw wrong(
                    type,
                    "@Default(%s): expected the name of a @Variant, such as %s",
                    defaultValue.value(),
                    variants.keySet());
        }
        return variants;
    }

    static ConfigNode.Mapping settings(Variant variant) {
        return map("{" + String.join(", ", variant.settings()) + "}");
    }

    /** Returns the component {@code variant}, which selects a {@link Variant}; empty for none. */
    static Optional<RecordComponent> variant(Class<? extends Record> type) {
        return Arrays.stream(type.getRecordComponents())
                .filter(component -> Records.key(component).equals(Binding.VARIANT))
                .filter(
                        component ->
                                type.isAnnotationPresent(Variant.class)
                                        || type.isAnnotationPresent(Variant.All.class))
                .findFirst();
    }

    /** Returns the keys of a record, including unwrapped records. */
    static Set<String> keys(Class<?> type) {
        Set<String> keys = new LinkedHashSet<>();
        for (RecordComponent component : type.getRecordComponents()) {
            if (component.isAnnotationPresent(Unwrapped.class)) {
                keys.addAll(keys(component.getType()));
            } else {
                keys.add(Records.key(component));
            }
        }
        return keys;
    }

    /** Returns the default of a component; empty if the setting is required. */
    Optional<Object> get(RecordComponent component) {
        if (instance.isPresent()) {
            return Optional.ofNullable(Records.get(component, instance.get()));
        }
        if (component.isAnnotationPresent(Unwrapped.class)) {
            Default annotation = component.getAnnotation(Default.class);
            ConfigNode.Mapping defaultValue = annotation == null ? EMPTY : map(annotation.value());
            Set<String> inside = keys(component.getType());
            Map<String, ConfigNode> own = Maps.filterKeys(variant.entries(), inside::contains);
            return Binding.annotated(
                    component,
                    defaultValue.mergedWith(new ConfigNode.Mapping(own, Origin.DEFAULT)),
                    Optional.empty());
        }
        Optional<Object> defaultValue =
                ANNOTATED.get(component.getDeclaringRecord()).get(component.getName());
        return variant.get(Records.key(component))
                .flatMap(node -> Binding.annotated(component, node, defaultValue))
                .or(() -> defaultValue);
    }

    private static Optional<Object> annotated(RecordComponent component) {
        Default annotation = component.getAnnotation(Default.class);
        return annotation == null
                ? implicit(component)
                : Binding.annotated(component, node(annotation.value()), Optional.empty());
    }

    private static Optional<Object> implicit(RecordComponent component) {
        if (component.getType() == Optional.class) {
            return Optional.of(Optional.empty());
        }
        return component.getType().isRecord()
                ? Binding.annotated(component, EMPTY, Optional.empty())
                : Optional.empty();
    }

    private static ConfigNode node(String yaml) {
        return YamlReader.read(yaml, Origin.DEFAULT);
    }

    private static ConfigNode.Mapping map(String yaml) {
        return (ConfigNode.Mapping) node(yaml);
    }

    @FormatMethod
    private static SaccadeException wrong(Class<?> type, String problem, Object... values) {
        return SaccadeException.user("%s: %s", type.getName(), Text.format(problem, values));
    }
}
