package dev.saccade.config;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.Range;
import dev.saccade.core.components.Unwrapped;

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Converts records to config trees; the inverse of {@link Binding}. */
final class Unbinding {

    private final Origin origin;

    private Unbinding(Origin origin) {
        this.origin = origin;
    }

    /** Returns all settings of a record, including defaults. */
    static ConfigNode.Mapping all(Record value) {
        return new Unbinding(Origin.DEFAULT).allOf(value);
    }

    /** Returns the settings of a record that differ from its defaults. */
    static ConfigNode.Mapping changes(Record value, Origin origin) {
        return new Unbinding(origin).changesOf(value, null);
    }

    /** Converts the value of any setting to a config value. */
    static ConfigNode node(Object value, Origin origin) {
        return new Unbinding(origin).node(value);
    }

    private ConfigNode.Mapping allOf(Record value) {
        Map<String, ConfigNode> entries = typed(value);
        putAll(value, entries);
        return new ConfigNode.Mapping(entries, origin);
    }

    /** Returns a map that contains only the {@code type} of a component, if any. */
    private Map<String, ConfigNode> typed(Record value) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        if (value instanceof ComponentConfig component) {
            entries.put(Binding.TYPE, new ConfigNode.Scalar(component.type(), origin));
        }
        return entries;
    }

    private void putAll(Record value, Map<String, ConfigNode> entries) {
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            Object setting = Records.get(component, value);
            if (component.isAnnotationPresent(Unwrapped.class)) {
                putAll((Record) setting, entries);
            } else {
                entries.put(Records.key(component), node(setting));
            }
        }
    }

    /**
     * Returns the settings that differ from the variant or, without variants, from {@code fallback}
     * if it has the type of {@code value}, else from the annotated defaults.
     */
    private ConfigNode.Mapping changesOf(Record value, Object fallback) {
        Map<String, ConfigNode> entries = typed(value);
        Class<? extends Record> type = value.getClass();
        Optional<Object> variant =
                Defaults.variant(type).map(component -> Records.get(component, value));
        variant.ifPresent(name -> entries.put(Binding.VARIANT, node(name)));
        Defaults defaults =
                variant.map(name -> Defaults.variants(type).get(name.toString()))
                        .orElseGet(() -> Defaults.of(type, fallback));
        putChanges(value, defaults, entries);
        return new ConfigNode.Mapping(entries, origin);
    }

    private void putChanges(Record value, Defaults defaults, Map<String, ConfigNode> entries) {
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            Object setting = Records.get(component, value);
            Object defaultValue = defaults.get(component).orElse(null);
            if (component.isAnnotationPresent(Unwrapped.class)) {
                putChanges((Record) setting, Defaults.of((Record) defaultValue), entries);
            } else if (!setting.equals(defaultValue)) {
                entries.put(Records.key(component), changed(setting, defaultValue));
            }
        }
    }

    private ConfigNode changed(Object value, Object fallback) {
        if (value instanceof Record section && !(value instanceof Range)) {
            return changesOf(section, fallback);
        }
        if (value instanceof Optional<?> present
                && present.orElse(null) instanceof Record component) {
            return changesOf(
                    component, fallback instanceof Optional<?> old ? old.orElse(null) : null);
        }
        return node(value);
    }

    private ConfigNode node(Object value) {
        if (value instanceof Range range) {
            return range.low() == 0 ? node(range.high()) : node(List.of(range.low(), range.high()));
        }
        if (value instanceof Record section) {
            return allOf(section);
        }
        if (value instanceof Optional<?> optional) {
            return optional.map(this::node).orElseGet(() -> new ConfigNode.Null(origin));
        }
        if (value instanceof List<?> list) {
            return new ConfigNode.Sequence(list.stream().map(this::node).toList(), origin);
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, ConfigNode> entries = new LinkedHashMap<>();
            map.forEach((key, item) -> entries.put(String.valueOf(key), node(item)));
            return new ConfigNode.Mapping(entries, origin);
        }
        if (value == null) {
            return new ConfigNode.Null(origin);
        }
        return new ConfigNode.Scalar(Scalars.toConfig(value), origin);
    }
}
