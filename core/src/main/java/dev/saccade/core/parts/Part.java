package dev.saccade.core.parts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the component that a {@link PartConfig} describes. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Part {

    /** The name by which the key {@code type} selects the component, such as {@code resnet}. */
    String value();
}
