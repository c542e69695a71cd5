package dev.saccade.config;

import com.google.common.base.Suppliers;
import com.google.common.base.Throwables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Registry of the components that configs can select by {@code type}. */
final class Parts {

    /** All components; read once per binding. */
    private final Supplier<List<Class<? extends PartConfig>>> all =
            Suppliers.memoize(Parts::provided);

    private static List<Class<? extends PartConfig>> provided() {
        List<Class<? extends PartConfig>> parts = new ArrayList<>();
        try {
            for (PartProvider provider : ServiceLoader.load(PartProvider.class)) {
                parts.addAll(listed(provider));
            }
        } catch (ServiceConfigurationError e) {
            throw unloadable(e);
        }
        return parts;
    }

    private static List<Class<? extends PartConfig>> listed(PartProvider provider) {
        try {
            return List.copyOf(provider.parts());
        } catch (RuntimeException | LinkageError e) {
            throw SaccadeException.user(
                    e, "%s: parts() failed: %s", provider.getClass().getName(), e);
        }
    }

    /** Returns the records of a kind by {@code type}. */
    <P extends PartConfig> Map<String, Class<? extends P>> registered(Class<P> kind) {
        Map<String, Class<? extends P>> known = new TreeMap<>();
        for (Class<? extends PartConfig> part : all.get()) {
            if (kind.isAssignableFrom(part)) {
                put(known, part.asSubclass(kind), name(part));
            }
        }
        return known;
    }

    private static <P extends PartConfig> void put(
            Map<String, Class<? extends P>> known, Class<? extends P> part, String name) {
        Class<? extends P> other = known.put(name, part);
        if (other != null && other != part) {
            throw SaccadeException.user(
                    "type %s: registered by both %s and %s; remove one from the class path",
                    name, other.getName(), part.getName());
        }
    }

    static String name(Class<? extends PartConfig> part) {
        Part name = part.getAnnotation(Part.class);
        if (name == null || name.value().isBlank() || !part.isRecord()) {
            throw SaccadeException.user(
                    "%s: expected a record with @Part(\"name\")", part.getName());
        }
        return name.value();
    }

    /** Reports the missing native library instead of the component, if that is the cause. */
    static SaccadeException unloadable(Error error) {
        for (Throwable cause : Throwables.getCausalChain(error)) {
            if (cause instanceof SaccadeException) {
                return SaccadeException.user(error, "%s", cause.getMessage());
            }
        }
        String origin =
                error.getCause() == null ? "" : ", caused by " + Throwables.getRootCause(error);
        return SaccadeException.user(
                error,
                "META-INF/services: a component cannot be loaded: %s%s",
                error.getMessage(),
                origin);
    }
}
