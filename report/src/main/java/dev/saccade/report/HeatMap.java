package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Text;

import java.util.List;

/**
 * A confusion matrix of counts by ground truth (row) and prediction (column).
 *
 * @param asPercent whether to show percentages of the row total; zeros are left empty
 */
public record HeatMap(String title, List<String> names, List<List<Long>> counts, boolean asPercent)
        implements Block {

    private static final double LARGEST_CELL = 52;
    private static final double SMALLEST_CELL = 26;
    private static final double CELLS = 640;
    private static final double MAX_NAME = 130;
    private static final double DARK = 0.55;
    private static final double AXIS_TITLE = 20;

    /** Checks that the matrix is square. */
    public HeatMap {
        names = ImmutableList.copyOf(names);
        counts =
                counts.stream().map(ImmutableList::copyOf).collect(ImmutableList.toImmutableList());
        int size = names.size();
        checkArgument(
                counts.size() == size && counts.stream().allMatch(row -> row.size() == size),
                "got %s names, expected a square matrix of this size, got %s",
                size,
                counts);
    }

    @Override
    public boolean isEmpty() {
        return names.isEmpty();
    }

    @Override
    public void write(Markup out) {
        int size = names.size();
        double cell = Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, CELLS / Math.max(size, 1)));
        double longest = names.stream().mapToDouble(Svg::width).max().orElse(0);
        double margin = AXIS_TITLE + 12 + Math.min(MAX_NAME, longest);
        double side = margin + size * cell + 4;
        out.open("figure", "class", "chart heat").leaf("figcaption", title);
        out.open("div", "class", "scroll", "style", "--side:" + Svg.number(side) + "px");
        Svg svg = new Svg(out, side, side, title);
        double middle = margin + Math.min(size * cell, CELLS) / 2;
        svg.label("x", middle, 12, "predicted");
        svg.verticalLabel("x", 12, middle, "ground truth");
        for (int i = 0; i < size; i++) {
            double at = margin + (i + 0.5) * cell;
            String name = Svg.fitted(names.get(i), MAX_NAME);
            svg.label("y", margin - 6, at, name);
            svg.verticalLabel("up", at, margin - 6, name);
        }
        for (int row = 0; row < size; row++) {
            svg.horizontalLine("grid", margin, side - 4, margin + row * cell);
            writeRow(svg, row, cell, margin);
        }
        svg.horizontalLine("grid", margin, side - 4, side - 4);
        svg.close();
        out.close().close();
    }

    /** Draws cells with tooltips that show the full class names. */
    private void writeRow(Svg svg, int row, double cell, double margin) {
        long all = counts.get(row).stream().mapToLong(Long::longValue).sum();
        for (int column = 0; column < names.size(); column++) {
            long count = counts.get(row).get(column);
            double fraction = (double) count / Math.max(all, 1);
            String number =
                    asPercent ? Text.format("%.0f", 100 * fraction) : shortNumber(count, cell);
            if (!number.equals("0")) {
                String tooltip =
                        Text.format(
                                "%s predicted as %s: %d of %d",
                                names.get(row), names.get(column), count, all);
                double left = margin + column * cell;
                double top = margin + row * cell;
                svg.cell(left, top, cell, 0.08 + 0.92 * fraction, tooltip);
                String kind = fraction > DARK ? "on dark" : "on";
                svg.label(kind, left + cell / 2, top + cell / 2, number);
            }
        }
    }

    private static String shortNumber(long count, double cell) {
        String digits = String.valueOf(count);
        boolean fits = count < 10_000 && Svg.width(digits) <= cell;
        return fits ? digits : Text.format("%.0fk", count / 1000.0);
    }
}
