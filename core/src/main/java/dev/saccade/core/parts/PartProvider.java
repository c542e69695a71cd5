package dev.saccade.core.parts;

import java.util.List;

/**
 * Registers components by name; found by {@link java.util.ServiceLoader}.
 *
 * <p>List the provider in {@code META-INF/services/dev.saccade.core.parts.PartProvider}. It returns
 * the records of all components of a library.
 */
public interface PartProvider {

    /** Returns the records, each annotated with {@link Part}. */
    List<Class<? extends PartConfig>> parts();
}
