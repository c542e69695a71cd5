package dev.saccade.core;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.util.List;

/**
 * What Saccade throws when it cannot go on: whose fault it is, and a message that says what, where,
 * what was got, what was expected, and what to do. What is filled into a message is {@link
 * Printable}: names of a hostile file show as one line, whatever is in them.
 */
public final class SaccadeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Whose fault it is; decides the exit code of the command line. */
    public enum Kind {
        /** A mistake in a config, a command, a data set or a checkpoint that the user can mend. */
        USER(2),
        /** A file, device or other rank that could not be read, written or reached. */
        IO(3),
        /** A bug in Saccade. */
        INTERNAL(70);

        private final int exitCode;

        Kind(int exitCode) {
            this.exitCode = exitCode;
        }

        /** Returns the exit code of a command that ends with this kind of error. */
        public int exitCode() {
            return exitCode;
        }
    }

    private final Kind kind;
    private final ImmutableList<String> settings;

    private SaccadeException(Kind kind, String message, Throwable cause) {
        this(kind, message, cause, ImmutableList.of());
    }

    private SaccadeException(
            Kind kind, String message, Throwable cause, ImmutableList<String> settings) {
        super(message, cause);
        this.kind = kind;
        this.settings = settings;
    }

    /** Returns a mistake of the user. */
    @FormatMethod
    public static SaccadeException user(@FormatString String format, Object... args) {
        return new SaccadeException(Kind.USER, Printable.format(format, args), null);
    }

    /** Returns a mistake of the user that showed itself in another error. */
    @FormatMethod
    public static SaccadeException user(
            Throwable cause, @FormatString String format, Object... args) {
        return new SaccadeException(Kind.USER, Printable.format(format, args), cause);
    }

    /** Returns a failure to read or write something. */
    @FormatMethod
    public static SaccadeException io(
            Throwable cause, @FormatString String format, Object... args) {
        return new SaccadeException(Kind.IO, Printable.format(format, args), cause);
    }

    /** Returns a bug. */
    @FormatMethod
    public static SaccadeException internal(
            Throwable cause, @FormatString String format, Object... args) {
        return new SaccadeException(Kind.INTERNAL, Printable.format(format, args), cause);
    }

    /** Returns the same without the error that it showed itself in, to be sent elsewhere. */
    public SaccadeException withoutCause() {
        SaccadeException alone = new SaccadeException(kind, getMessage(), null, settings);
        alone.setStackTrace(getStackTrace());
        return alone;
    }

    /**
     * Returns the same error with the settings that resolve it. Messages name no command options;
     * the command line adds its options of these names.
     *
     * @param names such as {@code resume} or {@code init-from}
     */
    public SaccadeException withSettings(String... names) {
        SaccadeException same =
                new SaccadeException(kind, getMessage(), getCause(), ImmutableList.copyOf(names));
        same.setStackTrace(getStackTrace());
        return same;
    }

    /** Returns the names of the settings that resolve the error, maybe none. */
    public List<String> settings() {
        return settings;
    }

    /** Returns whose fault it is. */
    public Kind kind() {
        return kind;
    }
}
