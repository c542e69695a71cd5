package dev.saccade.core.components;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Default value of a setting. Without it, an {@link java.util.Optional} is empty, a record uses its
 * own defaults, and any other setting is required.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Default {

    /** The value in YAML, such as {@code [2, 2, 6, 2]}. */
    String value();
}
