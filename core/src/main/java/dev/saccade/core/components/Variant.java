package dev.saccade.core.components;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A published variant of a component: the settings that differ from the {@link Default}s. List the
 * smallest variant first. The key {@code variant} selects a variant; the full name combines
 * component and variant, such as {@code swin_tiny}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Repeatable(Variant.All.class)
public @interface Variant {

    /**
     * The name, such as {@code tiny}. If the component has no key {@code variant}, this is the full
     * name, such as {@code resnet50}.
     */
    String name();

    /** The settings in YAML, such as {@code depths: [2, 2, 18, 2]}. */
    String[] settings() default {};

    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface All {

        Variant[] value();
    }
}
