package dev.saccade.core.parts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A key that configs and checkpoints of earlier versions have, and where its value belongs now. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Repeatable(Retired.All.class)
public @interface Retired {

    /** The key, such as {@code focal_gamma}. */
    String key();

    /** The dotted key of today, such as {@code loss_cls.gamma}; empty where nothing reads it. */
    String now() default "";

    /** The keys of earlier versions. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface All {

        /** The keys. */
        Retired[] value();
    }
}
