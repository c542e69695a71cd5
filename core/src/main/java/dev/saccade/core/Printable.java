package dev.saccade.core;

import static java.util.stream.Collectors.joining;

import com.google.common.base.Ascii;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes what files and users call things fit to be shown: no name steers a terminal, turns the
 * direction of the text around it, begins a line of its own or hides.
 *
 * <p>Control and format characters, separators of lines and whatever else is not seen are written
 * as in Java and JSON, such as {@code \n} or {@code \u202e}, so that a text of JSON stays what it
 * was. All else stays as it is.
 */
public final class Printable {

    /** A text of several lines that are fit to be shown; {@link #format} leaves it as it is. */
    public interface Lines {}

    /** Longer than any name; what a hostile file calls things may be as long as the file. */
    private static final int LONGEST_VALUE = 10_000;

    /** Characters that steer a terminal or that Unicode does not draw. */
    private static final Pattern HIDDEN =
            Pattern.compile(
                    "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{IsNoncharacter_Code_Point}"
                            + "\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u2065\\u3164"
                            + "\\uFE00-\\uFE0F\\uFFA0\\uFFF0-\\uFFF8\\x{E0000}-\\x{E0FFF}]");

    private Printable() {}

    /** Returns the text of a value in one line. */
    public static String line(Object value) {
        return escape(String.valueOf(value), "");
    }

    /** Returns a text whose lines are fit to be shown; it has as many as before. */
    public static String lines(String text) {
        return escape(text, "\n");
    }

    /**
     * Returns a text with its hidden characters escaped.
     *
     * @param kept hidden characters that stay
     */
    public static String escape(String text, String kept) {
        return HIDDEN.matcher(text)
                .replaceAll(
                        (MatchResult found) ->
                                Matcher.quoteReplacement(
                                        kept.contains(found.group())
                                                ? found.group()
                                                : escaped(found.group())));
    }

    private static String escaped(String character) {
        return switch (character) {
            case "\n" -> "\\n";
            case "\r" -> "\\r";
            case "\t" -> "\\t";
            default ->
                    character
                            .chars()
                            .mapToObj(unit -> Text.format("\\u%04x", unit))
                            .collect(joining());
        };
    }

    /**
     * Returns what {@link String#format} does, with all that is filled in as {@link #line} has it,
     * and its first 10,000 characters at most; {@link Lines} and the messages of {@link
     * SaccadeException} are so already.
     */
    @FormatMethod
    public static String format(@FormatString String format, Object... args) {
        return Text.format(format, Arrays.stream(args).map(Printable::filledIn).toArray());
    }

    private static Object filledIn(Object value) {
        if (value instanceof SaccadeException error) {
            return error.getMessage();
        }
        boolean harmless =
                value instanceof Number || value instanceof Boolean || value instanceof Lines;
        return harmless ? value : Ascii.truncate(line(value), LONGEST_VALUE, "...");
    }

    /** Returns a path as a shell takes it for one word, for commands to be pasted. */
    public static String shellWord(Path path) {
        String text = path.toString();
        return text.matches("[A-Za-z0-9_./:@%+,=-]+")
                ? text
                : "'" + line(text).replace("'", "'\\''") + "'";
    }
}
