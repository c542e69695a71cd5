package dev.saccade.core;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.util.Locale;

/** Formatting that does not depend on the default locale. */
public final class Text {

    private Text() {}

    /** Like {@link String#format} with {@link Locale#ROOT}; replaces {@code String.formatted}. */
    @FormatMethod
    public static String format(@FormatString String format, Object... args) {
        return String.format(Locale.ROOT, format, args);
    }
}
