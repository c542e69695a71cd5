package dev.saccade.core.parts;

import java.util.List;

/**
 * Makes components known by their names; found by {@link java.util.ServiceLoader}.
 *
 * <p>A library names its provider in {@code META-INF/services/dev.saccade.core.parts.PartProvider},
 * and lists there the records of all components that it brings, of whatever kind.
 */
public interface PartProvider {

    /** Returns the records; each has the name of its {@link Part}. */
    List<Class<? extends PartConfig>> parts();
}
