package dev.saccade.config;

import dev.saccade.core.parts.PartConfig;

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Makes config trees of records, which {@link ConfigBinder} makes equal records of. */
final class Unbinding {

    private Unbinding() {}

    /** Returns the whole config of a record, defaults written out. */
    static ConfigNode.Mapping whole(Record value) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        if (value instanceof PartConfig part) {
            entries.put(ConfigBinder.TYPE, new ConfigNode.Scalar(part.type(), Origin.DEFAULT));
        }
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            entries.put(Records.key(component), node(Records.get(component, value)));
        }
        return new ConfigNode.Mapping(entries, Origin.DEFAULT);
    }

    /** Returns the config of a record without what is as the defaults have it. */
    static ConfigNode.Mapping changes(Record value) {
        return changes(value, null);
    }

    /**
     * Returns what a record has otherwise than its defaults.
     *
     * @param fallback the default of the place, null where it has none
     */
    private static ConfigNode.Mapping changes(Record value, Object fallback) {
        boolean given = fallback != null && fallback.getClass() == value.getClass();
        Object defaults = given ? fallback : Records.defaults(value.getClass()).orElse(null);
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        if (value instanceof PartConfig part) {
            entries.put(ConfigBinder.TYPE, new ConfigNode.Scalar(part.type(), Origin.DEFAULT));
            for (RecordComponent component : value.getClass().getRecordComponents()) {
                if (Records.key(component).equals(ConfigBinder.VARIANT)
                        && !part.variants().isEmpty()) {
                    Object variant = Records.get(component, value);
                    entries.put(ConfigBinder.VARIANT, node(variant));
                    defaults = part.variants().get(variant.toString());
                }
            }
        }
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            Object changed = Records.get(component, value);
            Object usual = defaults == null ? null : Records.get(component, defaults);
            if (!changed.equals(usual)) {
                entries.put(Records.key(component), changed(changed, usual));
            }
        }
        return new ConfigNode.Mapping(entries, Origin.DEFAULT);
    }

    private static ConfigNode changed(Object value, Object fallback) {
        if (value instanceof Record section) {
            return changes(section, fallback);
        }
        if (value instanceof Optional<?> present && present.orElse(null) instanceof Record part) {
            return changes(part, fallback instanceof Optional<?> old ? old.orElse(null) : null);
        }
        return node(value);
    }

    private static ConfigNode node(Object value) {
        if (value instanceof Record section) {
            return whole(section);
        }
        if (value instanceof Optional<?> optional) {
            return optional.map(Unbinding::node)
                    .orElseGet(() -> new ConfigNode.Nothing(Origin.DEFAULT));
        }
        if (value instanceof List<?> list) {
            return new ConfigNode.Sequence(
                    list.stream().map(Unbinding::node).toList(), Origin.DEFAULT);
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, ConfigNode> entries = new LinkedHashMap<>();
            map.forEach((key, item) -> entries.put((String) key, node(item)));
            return new ConfigNode.Mapping(entries, Origin.DEFAULT);
        }
        return new ConfigNode.Scalar(Scalars.toConfig(value), Origin.DEFAULT);
    }
}
