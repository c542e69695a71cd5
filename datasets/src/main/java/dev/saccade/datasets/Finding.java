package dev.saccade.datasets;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;

/**
 * Something that is wrong with a data set.
 *
 * @param severity whether training would fail or learn something wrong
 * @param file the annotation file or the image
 * @param subject what in that file, such as {@code annotation 17}; empty for the file as a whole
 * @param message what was got, what was expected
 */
public record Finding(Severity severity, String file, String subject, String message) {

    /** How bad it is. */
    public enum Severity {
        /** Would stop training or make it learn something wrong. */
        ERROR,
        /** Is suspicious, or costs some data. */
        WARNING
    }

    private static final int LONGEST = 300;

    /** Shortens texts that come from a hostile file. */
    public Finding {
        subject = shortened(subject);
        message = shortened(message);
    }

    private static String shortened(String text) {
        return text.length() > LONGEST ? text.substring(0, LONGEST) + "..." : text;
    }

    public static Finding error(String file, String subject, String message) {
        return new Finding(Severity.ERROR, file, subject, message);
    }

    /** Returns the error of a file that cannot be used, in whose message it is named. */
    public static Finding error(String file, SaccadeException problem) {
        String message = problem.getMessage();
        String named = Printable.line(file);
        return error(
                file,
                "",
                message.startsWith(named)
                        ? message.substring(named.length()).replaceFirst("^:? ?", "")
                        : message);
    }

    public static Finding warning(String file, String subject, String message) {
        return new Finding(Severity.WARNING, file, subject, message);
    }

    /** Returns the finding in one line, fit to be shown. */
    @Override
    public String toString() {
        return Printable.line(file + ": " + (subject.isEmpty() ? "" : subject + ": ") + message);
    }
}
