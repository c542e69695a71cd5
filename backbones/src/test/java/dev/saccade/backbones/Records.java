package dev.saccade.backbones;

import dev.saccade.core.parts.Backbone;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/** Changes single components of configs, whatever family they are of. */
final class Records {

    private Records() {}

    static boolean has(Backbone.Config config, String component) {
        return Arrays.stream(config.getClass().getRecordComponents())
                .anyMatch(c -> c.getName().equals(component));
    }

    /** Returns a copy that differs in one component; the config itself if it has none such. */
    static Backbone.Config with(Backbone.Config config, String component, Object value) {
        RecordComponent[] components = config.getClass().getRecordComponents();
        Object[] values = new Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        try {
            for (int i = 0; i < components.length; i++) {
                RecordComponent c = components[i];
                types[i] = c.getType();
                values[i] = c.getName().equals(component) ? value : c.getAccessor().invoke(config);
            }
            Constructor<? extends Backbone.Config> make =
                    config.getClass().getDeclaredConstructor(types);
            return make.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
