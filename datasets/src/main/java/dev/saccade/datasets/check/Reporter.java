package dev.saccade.datasets.check;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;

import java.util.function.Consumer;

/** Receives the faults of a data set. */
@FunctionalInterface
public interface Reporter extends Consumer<Finding> {

    @FormatMethod
    default void error(String file, @FormatString String message, Object... args) {
        errorAt(file, "", message, args);
    }

    /** Reports an error in an element of a file, such as {@code annotation 17}. */
    @FormatMethod
    default void errorAt(
            String file, String subject, @FormatString String message, Object... args) {
        accept(Finding.error(file, subject, Text.format(message, args)));
    }

    @FormatMethod
    default void warning(String file, @FormatString String message, Object... args) {
        warningAt(file, "", message, args);
    }

    @FormatMethod
    default void warningAt(
            String file, String subject, @FormatString String message, Object... args) {
        accept(Finding.warning(file, subject, Text.format(message, args)));
    }

    /** Runs an action and reports its {@link SaccadeException} as an error. */
    default void attempt(String file, Runnable action) {
        try {
            action.run();
        } catch (SaccadeException e) {
            accept(Finding.error(file, e));
        }
    }
}
