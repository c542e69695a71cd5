package dev.saccade.config;

import com.google.common.base.Suppliers;
import com.google.common.base.Throwables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Registry of the components that configs can select by {@code type}. */
final class Components {

    /** All components; read once per binding. */
    private final Supplier<List<Class<? extends ComponentConfig>>> all =
            Suppliers.memoize(Components::provided);

    private static List<Class<? extends ComponentConfig>> provided() {
        List<Class<? extends ComponentConfig>> components = new ArrayList<>();
        try {
            for (ComponentProvider provider : ServiceLoader.load(ComponentProvider.class)) {
                components.addAll(listed(provider));
            }
        } catch (ServiceConfigurationError e) {
            throw unloadable(e);
        }
        return components;
    }

    private static List<Class<? extends ComponentConfig>> listed(ComponentProvider provider) {
        try {
            return List.copyOf(provider.components());
        } catch (RuntimeException | LinkageError e) {
            throw SaccadeException.user(
                    e, "%s: components() failed: %s", provider.getClass().getName(), e);
        }
    }

    <P extends ComponentConfig> Map<String, Class<? extends P>> registered(Class<P> kind) {
        Map<String, Class<? extends P>> known = new TreeMap<>();
        for (Class<? extends ComponentConfig> component : all.get()) {
            if (kind.isAssignableFrom(component)) {
                put(known, component.asSubclass(kind), name(component));
            }
        }
        return known;
    }

    private static <P extends ComponentConfig> void put(
            Map<String, Class<? extends P>> known, Class<? extends P> component, String name) {
        Class<? extends P> other = known.put(name, component);
        if (other != null && other != component) {
            throw SaccadeException.user(
                    "type %s: registered by both %s and %s; remove one from the class path",
                    name, other.getName(), component.getName());
        }
    }

    static String name(Class<? extends ComponentConfig> component) {
        Component name = component.getAnnotation(Component.class);
        if (name == null || name.value().isBlank() || !component.isRecord()) {
            throw SaccadeException.user(
                    "%s: expected a record with @Component(\"name\")", component.getName());
        }
        return name.value();
    }

    /** Returns a user error with the message of a causing {@link SaccadeException}, if any. */
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
