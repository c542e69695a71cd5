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
 * Escapes untrusted text, such as file names. Escaped text cannot control the terminal, change the
 * text direction, break lines or be invisible. Escapes like {@code \n} and {@code \u202e} are valid
 * in Java and JSON.
 */
public final class Printable {

    /** Multi-line text that is already escaped; {@link #format} does not escape it again. */
    public interface Lines {}

    /** Longer than any real name. */
    private static final int MAX_VALUE_LENGTH = 10_000;

    /** Characters that control a terminal or are invisible. */
    private static final Pattern HIDDEN =
            Pattern.compile(
                    "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{IsNoncharacter_Code_Point}"
                            + "\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u2065\\u3164"
                            + "\\uFE00-\\uFE0F\\uFFA0\\uFFF0-\\uFFF8\\x{E0000}-\\x{E0FFF}]");

    private Printable() {}

    /** Escapes a value to a single line. */
    public static String line(Object value) {
        return escape(String.valueOf(value), "");
    }

    /** Escapes each line of a text. */
    public static String lines(String text) {
        return escape(text, "\n");
    }

    /** Escapes control and invisible characters, except those in {@code kept}. */
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
     * Formats with each argument escaped as in {@link #line} and truncated to 10,000 characters.
     * {@link Lines} and messages of {@link SaccadeException} are inserted unchanged.
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
        return harmless ? value : Ascii.truncate(line(value), MAX_VALUE_LENGTH, "...");
    }

    /** Quotes a path as a single shell word that is not an option, for commands to be pasted. */
    public static String shellWord(Path path) {
        String text = path.toString().replaceFirst("^-", "./-");
        return text.matches("[A-Za-z0-9_./:@%+,=-]+")
                ? text
                : "'" + line(text).replace("'", "'\\''") + "'";
    }
}
