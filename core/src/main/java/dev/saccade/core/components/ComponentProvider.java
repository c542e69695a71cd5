package dev.saccade.core.components;

import java.util.List;

/**
 * Registers the components of a library. Name the implementing class in {@code
 * META-INF/services/dev.saccade.core.components.ComponentProvider}.
 */
public interface ComponentProvider {

    /** Returns the settings records, each annotated with {@link Component}. */
    List<Class<? extends ComponentConfig>> components();
}
