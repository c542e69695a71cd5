package dev.saccade.core.parts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A published member of a family: what it has otherwise than the {@link Default}s. The smallest
 * stands first. Where the settings have a key {@code variant}, that selects the member, which goes
 * by the names of the part and of the variant, such as {@code swin_tiny}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Repeatable(Variant.All.class)
public @interface Variant {

    /** The name, such as {@code tiny}; where no key selects it the whole, {@code resnet50}. */
    String name();

    /** The settings, each as YAML has it, such as {@code depths: [2, 2, 18, 2]}. */
    String[] settings() default {};

    /** The members of a family. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface All {

        /** The members, the smallest first. */
        Variant[] value();
    }
}
