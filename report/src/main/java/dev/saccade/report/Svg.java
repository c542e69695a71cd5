package dev.saccade.report;

import dev.saccade.core.Text;

/** Draws lines, labels and shapes of a chart in the units of its view box. */
final class Svg {

    private static final double CHARACTER = 6.6;

    /** First code point of the blocks whose characters are as wide as high: CJK, emoji. */
    private static final int FIRST_WIDE = 0x2E80;

    private final Markup out;

    /** Opens a drawing. */
    Svg(Markup out, double width, double height, String description) {
        this.out = out;
        String box = "0 0 " + number(width) + " " + number(height);
        out.open("svg", "viewBox", box, "role", "img", "aria-label", description);
    }

    /** Closes the drawing. */
    void close() {
        out.close();
    }

    /** Draws a line across at height {@code y}. */
    void across(String kind, double from, double to, double y) {
        String at = number(y);
        out.empty("line", "class", kind, "x1", number(from), "x2", number(to), "y1", at, "y2", at);
    }

    /** Draws a label; its kind says how it is aligned. */
    void label(String kind, double x, double y, String text) {
        out.leaf("text", text, "class", kind, "x", number(x), "y", number(y));
    }

    /** Draws a label that is read from below; its kind says how it is aligned. */
    void rising(String kind, double x, double y, String text) {
        String turn = "rotate(-90 " + number(x) + " " + number(y) + ")";
        out.leaf("text", text, "class", kind, "x", number(x), "y", number(y), "transform", turn);
    }

    /** Draws a square with a tooltip. */
    void cell(double left, double top, double side, double opacity, String tooltip) {
        String square = rectangle(left, top, left + side, top + side);
        String opaque = Text.format("%.2f", opacity);
        out.open("path", "class", "cell", "d", square, "fill-opacity", opaque);
        out.leaf("title", tooltip).close();
    }

    /** Draws a rectangle with a tooltip. */
    void bar(double left, double top, double right, double bottom, String title) {
        out.open("path", "class", "bar", "d", rectangle(left, top, right, bottom));
        out.leaf("title", title).close();
    }

    /** Returns the path of a rectangle. */
    static String rectangle(double left, double top, double right, double bottom) {
        String start = number(left);
        return Text.format(
                "M%s %sH%sV%sH%sZ", start, number(top), number(right), number(bottom), start);
    }

    /** Draws the lines and numbers of a vertical axis, across the stretch of a horizontal one. */
    void grid(Axis vertical, double left, double right) {
        for (double tick : vertical.ticks()) {
            double y = vertical.at(tick);
            across(tick == 0 ? "base" : "grid", left, right, y);
            label("y", left - 8, y, vertical.label(tick));
        }
    }

    /** Returns the approximate width of a label. */
    static double width(String text) {
        return CHARACTER * cells(text);
    }

    /** Returns the approximate width of a text in characters; wide characters count twice. */
    static int cells(String text) {
        return text.codePoints().map(c -> c < FIRST_WIDE ? 1 : 2).sum();
    }

    /** Returns a label of at most the given width, shortened with an ellipsis if it is longer. */
    static String fitted(String text, double width) {
        if (width(text) <= width) {
            return text;
        }
        StringBuilder start = new StringBuilder();
        for (int c : text.codePoints().toArray()) {
            if (width(start + Character.toString(c) + "…") > width) {
                break;
            }
            start.appendCodePoint(c);
        }
        return start + "…";
    }

    /** Returns a coordinate with the decimals that a screen can show. */
    static String number(double value) {
        String rounded = Text.format("%.1f", value);
        return rounded.endsWith(".0") ? rounded.substring(0, rounded.length() - 2) : rounded;
    }
}
