package dev.saccade.core.parts;

import java.util.List;

/**
 * Registers the components of a library, listed in {@code
 * META-INF/services/dev.saccade.core.parts.PartProvider}.
 */
public interface PartProvider {

    /** Returns the settings records, each annotated with {@link Part}. */
    List<Class<? extends PartConfig>> parts();
}
