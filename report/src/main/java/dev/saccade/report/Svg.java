package dev.saccade.report;

import dev.saccade.core.Text;

/** Draws shapes and labels in view box units. */
final class Svg {

    private static final double CHARACTER_WIDTH = 6.6;

    /** First code point of full-width characters, such as CJK and emoji. */
    private static final int FIRST_WIDE = 0x2E80;

    private final Markup out;

    Svg(Markup out, double width, double height, String description) {
        this.out = out;
        String box = "0 0 " + number(width) + " " + number(height);
        out.open("svg", "viewBox", box, "role", "img", "aria-label", description);
    }

    void close() {
        out.close();
    }

    void horizontalLine(String kind, double from, double to, double y) {
        String at = number(y);
        out.empty("line", "class", kind, "x1", number(from), "x2", number(to), "y1", at, "y2", at);
    }

    /** Draws a label; {@code kind} is a CSS class that sets the alignment. */
    void label(String kind, double x, double y, String text) {
        out.leaf("text", text, "class", kind, "x", number(x), "y", number(y));
    }

    void verticalLabel(String kind, double x, double y, String text) {
        String turn = "rotate(-90 " + number(x) + " " + number(y) + ")";
        out.leaf("text", text, "class", kind, "x", number(x), "y", number(y), "transform", turn);
    }

    void cell(double left, double top, double side, double opacity, String tooltip) {
        String square = rectangle(left, top, left + side, top + side);
        String opaque = Text.format("%.2f", opacity);
        out.open("path", "class", "cell", "d", square, "fill-opacity", opaque);
        out.leaf("title", tooltip).close();
    }

    void bar(double left, double top, double right, double bottom, String title) {
        out.open("path", "class", "bar", "d", rectangle(left, top, right, bottom));
        out.leaf("title", title).close();
    }

    static String rectangle(double left, double top, double right, double bottom) {
        String start = number(left);
        return Text.format(
                "M%s %sH%sV%sH%sZ", start, number(top), number(right), number(bottom), start);
    }

    void grid(Axis vertical, double left, double right) {
        for (double tick : vertical.ticks()) {
            double y = vertical.at(tick);
            horizontalLine(tick == 0 ? "base" : "grid", left, right, y);
            label("y", left - 8, y, vertical.label(tick));
        }
    }

    static double width(String text) {
        return CHARACTER_WIDTH * cells(text);
    }

    /** Returns the width of a text in characters; full-width characters count twice. */
    static int cells(String text) {
        return text.codePoints().map(c -> c < FIRST_WIDE ? 1 : 2).sum();
    }

    /** Shortens a label to a maximum width, with an ellipsis. */
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

    /** Formats a coordinate with at most one decimal. */
    static String number(double value) {
        String rounded = Text.format("%.1f", value);
        return rounded.endsWith(".0") ? rounded.substring(0, rounded.length() - 2) : rounded;
    }
}
