package dev.saccade.datasets;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    /** What follows a file in a message: line and column, if they are known, and what is wrong. */
    private static final Pattern PLACE = Pattern.compile("((?::\\d+)*):? ?(.*)", Pattern.DOTALL);

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

    /** Returns the finding in one line, fit to be shown. */
    @Override
    public String toString() {
        return Printable.line(file + ": " + (subject.isEmpty() ? "" : subject + ": ") + message);
    }
}
