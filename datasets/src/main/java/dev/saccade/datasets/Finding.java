package dev.saccade.datasets;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fault of a data set.
 *
 * @param subject element of the file, such as {@code annotation 17}; empty for the whole file
 */
public record Finding(Severity severity, String file, String subject, String message) {

    public enum Severity {
        /** Stops training, or makes it train on wrong data. */
        ERROR,
        /** Suspicious, or loses some data. */
        WARNING
    }

    private static final int MAX_LENGTH = 300;

    /** The rest of a message after the file: line and column, if known, and the problem. */
    private static final Pattern PLACE = Pattern.compile("((?::\\d+)*):? ?(.*)", Pattern.DOTALL);

    /** Shortens subject and message, which may be from untrusted files. */
    public Finding {
        subject = shortened(subject);
        message = shortened(message);
    }

    private static String shortened(String text) {
        return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) + "..." : text;
    }

    public static Finding error(String file, String subject, String message) {
        return new Finding(Severity.ERROR, file, subject, message);
    }

    /** Creates an error from an exception, without the file at the start of its message. */
    public static Finding error(String file, SaccadeException problem) {
        String message = problem.getMessage();
        String named = Printable.line(file);
        if (!message.startsWith(named)) {
            return error(file, "", message);
        }
        Matcher rest = PLACE.matcher(message.substring(named.length()));
        return rest.matches()
                ? error(file + rest.group(1), "", rest.group(2))
                : error(file, "", message.substring(named.length()));
    }

    public static Finding warning(String file, String subject, String message) {
        return new Finding(Severity.WARNING, file, subject, message);
    }

    public boolean isError() {
        return severity == Severity.ERROR;
    }

    @Override
    public String toString() {
        return Printable.line(file + ": " + (subject.isEmpty() ? "" : subject + ": ") + message);
    }
}
