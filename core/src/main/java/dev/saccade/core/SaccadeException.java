package dev.saccade.core;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.io.IOException;
import java.util.List;

/**
 * Saccade's exception. Its message gives the location, the problem and the remedy; arguments are
 * escaped by {@link Printable}.
 */
public final class SaccadeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Category of errors, which determines the exit code of the command line. */
    public enum Kind {
        /** An error that the user can fix in a config, command, data set or checkpoint. */
        USER(2),
        /** A file, device or other rank that cannot be read, written or reached. */
        IO(3),
        /** A bug in Saccade. */
        INTERNAL(70);

        private final int exitCode;

        Kind(int exitCode) {
            this.exitCode = exitCode;
        }

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

    @FormatMethod
    public static SaccadeException user(@FormatString String format, Object... args) {
        return new SaccadeException(Kind.USER, Printable.format(format, args), null);
    }

    @FormatMethod
    public static SaccadeException user(
            Throwable cause, @FormatString String format, Object... args) {
        return new SaccadeException(Kind.USER, Printable.format(format, args), cause);
    }

    /** Creates an I/O error. If the disk is full, the message ends with what to do. */
    @FormatMethod
    public static SaccadeException io(
            Throwable cause, @FormatString String format, Object... args) {
        String advice = isDiskFull(cause) ? "; free disk space, or write to another disk" : "";
        return new SaccadeException(Kind.IO, Printable.format(format, args) + advice, cause);
    }

    private static boolean isDiskFull(Throwable cause) {
        if (!(cause instanceof IOException)) {
            return false;
        }
        String reason = String.valueOf(cause.getMessage());
        return reason.contains("No space left on device")
                || reason.contains("not enough space on the disk");
    }

    @FormatMethod
    public static SaccadeException internal(
            Throwable cause, @FormatString String format, Object... args) {
        return new SaccadeException(Kind.INTERNAL, Printable.format(format, args), cause);
    }

    /** Returns the same error without its cause, which may not be serializable. */
    public SaccadeException withoutCause() {
        SaccadeException alone = new SaccadeException(kind, getMessage(), null, settings);
        alone.setStackTrace(getStackTrace());
        return alone;
    }

    /**
     * Returns the same error with the settings that resolve it, such as {@code resume} or {@code
     * init-from}. The command line appends its options of these names to the message.
     */
    public SaccadeException withSettings(String... names) {
        SaccadeException same =
                new SaccadeException(kind, getMessage(), getCause(), ImmutableList.copyOf(names));
        same.setStackTrace(getStackTrace());
        return same;
    }

    /** Returns the names of the settings that resolve the error, possibly none. */
    public List<String> settings() {
        return settings;
    }

    public Kind kind() {
        return kind;
    }
}
