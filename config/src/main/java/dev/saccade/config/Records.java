package dev.saccade.config;

import com.google.common.base.CaseFormat;
import com.google.common.base.Throwables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.PartConfig;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** What the binder asks of Java's reflection. */
final class Records {

    private Records() {}

    /** Returns the YAML key of a component. */
    static String key(RecordComponent component) {
        return CaseFormat.LOWER_CAMEL.to(CaseFormat.LOWER_UNDERSCORE, component.getName());
    }

    /** Returns the value of a component of a record. */
    static Object get(RecordComponent component, Object value) {
        Method accessor = component.getAccessor();
        accessor.setAccessible(true);
        try {
            return accessor.invoke(value);
        } catch (ReflectiveOperationException e) {
            throw broken(e, component.getDeclaringRecord());
        }
    }

    /** Returns what the no-argument constructor of a record makes, if it has one. */
    static Optional<Object> defaults(Class<? extends Record> type) {
        return Arrays.stream(type.getDeclaredConstructors())
                .filter(constructor -> constructor.getParameterCount() == 0)
                .findAny()
                .map(constructor -> call(constructor, type));
    }

    /**
     * Calls the canonical constructor.
     *
     * @throws IllegalArgumentException if it refuses the values
     */
    static Object make(Class<? extends Record> type, Object... values) {
        Class<?>[] parameters =
                Arrays.stream(type.getRecordComponents())
                        .map(RecordComponent::getType)
                        .toArray(Class<?>[]::new);
        try {
            return call(type.getDeclaredConstructor(parameters), type, values);
        } catch (NoSuchMethodException e) {
            throw broken(e, type);
        }
    }

    private static Object call(Constructor<?> constructor, Class<?> type, Object... values) {
        constructor.setAccessible(true);
        try {
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IllegalArgumentException refusal) {
                throw refusal;
            }
            throw broken(e.getCause(), type);
        } catch (ReflectiveOperationException e) {
            throw broken(e, type);
        }
    }

    /** Returns the components of a kind by their types, with their defaults. */
    static <P extends PartConfig> Map<String, P> parts(Class<P> kind) {
        Map<String, P> parts = new TreeMap<>();
        try {
            for (P part : ServiceLoader.load(kind)) {
                P other = parts.put(part.type(), part);
                if (other != null) {
                    throw SaccadeException.user(
                            "type %s: claimed by %s and by %s; remove one from the class path",
                            part.type(), other.getClass().getName(), part.getClass().getName());
                }
            }
        } catch (ServiceConfigurationError e) {
            throw unloadable(e);
        }
        return parts;
    }

    /** Many a component fails because the libraries that all of them use cannot be loaded. */
    private static SaccadeException unloadable(ServiceConfigurationError error) {
        return Throwables.getCausalChain(error).stream()
                .filter(SaccadeException.class::isInstance)
                .map(cause -> SaccadeException.user(error, "%s", cause.getMessage()))
                .findFirst()
                .orElseGet(
                        () ->
                                SaccadeException.user(
                                        error,
                                        "META-INF/services: a component cannot be loaded: %s, as"
                                                + " of %s",
                                        error.getMessage(),
                                        Throwables.getRootCause(error)));
    }

    private static SaccadeException broken(Throwable cause, Class<?> type) {
        return SaccadeException.internal(
                cause, "%s cannot be used as a config record", type.getName());
    }
}
