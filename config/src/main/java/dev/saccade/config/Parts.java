package dev.saccade.config;

import com.google.common.base.Throwables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** The components that a config can name. */
final class Parts {

    private Parts() {}

    /** Returns the records of a kind by their types. */
    static <P extends PartConfig> Map<String, Class<? extends P>> known(Class<P> kind) {
        Map<String, Class<? extends P>> known = new TreeMap<>();
        try {
            for (PartProvider provider : ServiceLoader.load(PartProvider.class)) {
                for (Class<? extends PartConfig> part : provider.parts()) {
                    if (kind.isAssignableFrom(part)) {
                        put(known, part.asSubclass(kind), name(part));
                    }
                }
            }
        } catch (ServiceConfigurationError e) {
            throw unloadable(e);
        }
        return known;
    }

    private static <P extends PartConfig> void put(
            Map<String, Class<? extends P>> known, Class<? extends P> part, String name) {
        Class<? extends P> other = known.put(name, part);
        if (other != null && other != part) {
            throw SaccadeException.user(
                    "type %s: claimed by %s and by %s; remove one from the class path",
                    name, other.getName(), part.getName());
        }
    }

    /** Returns the name of a part. */
    static String name(Class<? extends PartConfig> part) {
        Part name = part.getAnnotation(Part.class);
        if (name == null || !part.isRecord()) {
            throw SaccadeException.user(
                    "%s: expected a record with @Part(\"name\"), as a PartProvider lists them",
                    part.getName());
        }
        return name.value();
    }

    /** Many a component fails because the libraries that all of them use cannot be loaded. */
    static SaccadeException unloadable(Error error) {
        String origin = error.getCause() == null ? "" : ", as of " + Throwables.getRootCause(error);
        return Throwables.getCausalChain(error).stream()
                .filter(SaccadeException.class::isInstance)
                .map(cause -> SaccadeException.user(error, "%s", cause.getMessage()))
                .findFirst()
                .orElseGet(
                        () ->
                                SaccadeException.user(
                                        error,
                                        "META-INF/services: a component cannot be loaded: %s%s",
                                        error.getMessage(),
                                        origin));
    }
}
