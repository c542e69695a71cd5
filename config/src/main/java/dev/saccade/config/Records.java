package dev.saccade.config;

import com.google.common.base.CaseFormat;

import dev.saccade.core.SaccadeException;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/** Reads and creates records by reflection. */
final class Records {

    private Records() {}

    static String key(RecordComponent component) {
        return CaseFormat.LOWER_CAMEL.to(CaseFormat.LOWER_UNDERSCORE, component.getName());
    }

    static Object get(RecordComponent component, Object value) {
        Method accessor = component.getAccessor();
        accessor.setAccessible(true);
        try {
            return accessor.invoke(value);
        } catch (ReflectiveOperationException e) {
            throw broken(e, component.getDeclaringRecord());
        }
    }

    /**
     * Creates a record with its canonical constructor.
     *
     * @throws IllegalArgumentException if the constructor rejects the values
     */
    static Object create(Class<? extends Record> type, Object... values) {
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
            if (e.getCause() instanceof SaccadeException refusal) {
                throw new IllegalArgumentException(refusal.getMessage(), refusal);
            }
            if (e.getCause() instanceof RuntimeException fault) {
                throw new IllegalArgumentException(type.getName() + " failed: " + fault, fault);
            }
            throw broken(e.getCause(), type);
        } catch (ReflectiveOperationException e) {
            throw broken(e, type);
        } catch (LinkageError e) {
            throw Components.unloadable(e);
        }
    }

    private static SaccadeException broken(Throwable cause, Class<?> type) {
        return SaccadeException.internal(
                cause, "%s cannot be used as a config record", type.getName());
    }
}
