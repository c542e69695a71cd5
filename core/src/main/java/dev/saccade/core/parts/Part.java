package dev.saccade.core.parts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Name of the component that a {@link PartConfig} describes. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Part {

    /** The value of the key {@code type}, such as {@code resnet}. */
    String value();
}
