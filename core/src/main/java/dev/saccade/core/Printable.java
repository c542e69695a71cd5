package dev.saccade.core;

import com.google.common.base.Ascii;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import java.nio.file.Path;
import java.util.Arrays;

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

    private Printable() {}

    /** Returns the text of a value in one line. */
    public static String line(Object value) {
        StringBuilder out = new StringBuilder();
        String.valueOf(value).codePoints().forEach(c -> append(c, out));
        return out.toString();
    }

    /** Returns a text whose lines are fit to be shown; it has as many as before. */
    public static String lines(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints()
                .forEach(
                        c -> {
                            if (c == '\n') {
                                out.append('\n');
                            } else {
                                append(c, out);
                            }
                        });
        return out.toString();
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

    /** Appends a character, as it is or escaped. */
    public static void append(int codePoint, StringBuilder out) {
        switch (codePoint) {
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
                if (isSeen(codePoint)) {
                    out.appendCodePoint(codePoint);
                } else {
                    for (char unit : Character.toChars(codePoint)) {
                        out.append(Text.format("\\u%04x", (int) unit));
                    }
                }
            }
        }
    }

    private static boolean isSeen(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE ->
                    false;
            default -> !isIgnorable(c);
        };
    }

    /**
     * Whether Unicode's default is to draw nothing, of characters that are not of the types above.
     */
    private static boolean isIgnorable(int c) {
        return c == 0x034F
                || c == 0x115F
                || c == 0x1160
                || c == 0x17B4
                || c == 0x17B5
                || (c >= 0x180B && c <= 0x180F)
                || c == 0x2065
                || c == 0x3164
                || (c >= 0xFE00 && c <= 0xFE0F)
                || c == 0xFFA0
                || (c >= 0xFFF0 && c <= 0xFFF8)
                || (c & 0xFFFE) == 0xFFFE
                || (c >= 0xE0000 && c <= 0xE0FFF);
    }

    /** Returns a path as a shell takes it for one word, for commands to be pasted. */
    public static String word(Path path) {
        String text = path.toString();
        return text.matches("[A-Za-z0-9_./:@%+,=-]+")
                ? text
                : "'" + line(text).replace("'", "'\\''") + "'";
    }
}
