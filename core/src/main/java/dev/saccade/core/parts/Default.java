package dev.saccade.core.parts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The value of a setting where a config says nothing of it.
 *
 * <p>A setting without one is empty if it is an {@link java.util.Optional}, has the defaults of its
 * own settings if it is a record, and is required otherwise.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Default {

    /** The value as YAML has it, such as {@code [2, 2, 6, 2]}. */
    String value();
}
