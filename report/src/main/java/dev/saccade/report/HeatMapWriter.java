package dev.saccade.report;

import dev.saccade.core.Text;

import java.util.List;

/** Draws a confusion matrix as SVG; the darker a cell, the larger its fraction of the row. */
final class HeatMapWriter {

    private static final double LARGEST_CELL = 52;
    private static final double SMALLEST_CELL = 26;
    private static final double CELLS = 640;
    private static final double LONGEST_NAME = 130;
    private static final double DARK = 0.55;
    private static final double AXIS_TITLE = 20;

    private final Svg svg;
    private final HeatMap map;
    private final double cell;
    private final double names;

    private HeatMapWriter(Svg svg, HeatMap map, double cell, double names) {
        this.svg = svg;
        this.map = map;
        this.cell = cell;
        this.names = names;
    }

    /** Draws the matrix with its caption; tooltips show the full class names. */
    static void write(Markup out, HeatMap map) {
        int size = map.names().size();
        double cell = Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, CELLS / Math.max(size, 1)));
        double longest = map.names().stream().mapToDouble(Svg::width).max().orElse(0);
        double names = AXIS_TITLE + 12 + Math.min(LONGEST_NAME, longest);
        double side = names + size * cell + 4;
        out.open("figure", "class", "chart heat").leaf("figcaption", map.title());
        out.open("div", "class", "scroll", "style", "--side:" + Svg.number(side) + "px");
        Svg svg = new Svg(out, side, side, map.title());
        HeatMapWriter writer = new HeatMapWriter(svg, map, cell, names);
        double middle = names + Math.min(size * cell, CELLS) / 2;
        svg.label("x", middle, 12, "predicted");
        svg.rising("x", 12, middle, "ground truth");
        for (int i = 0; i < size; i++) {
            writer.name(i);
        }
        for (int row = 0; row < size; row++) {
            svg.across("grid", names, side - 4, names + row * cell);
            writer.row(row);
        }
        svg.across("grid", names, side - 4, side - 4);
        svg.close();
        out.close().close();
    }

    private void name(int i) {
        double middle = names + (i + 0.5) * cell;
        String name = Svg.fitted(map.names().get(i), LONGEST_NAME);
        svg.label("y", names - 6, middle, name);
        svg.rising("up", middle, names - 6, name);
    }

    private void row(int row) {
        List<Long> counts = map.counts().get(row);
        long all = counts.stream().mapToLong(Long::longValue).sum();
        for (int column = 0; column < counts.size(); column++) {
            long count = counts.get(column);
            double share = (double) count / Math.max(all, 1);
            String number = map.ofShares() ? percent(share) : number(count);
            if (!number.equals("0")) {
                String title =
                        Text.format(
                                "%s predicted as %s: %d of %d",
                                map.names().get(row), map.names().get(column), count, all);
                double left = names + column * cell;
                double top = names + row * cell;
                svg.cell(left, top, cell, 0.08 + 0.92 * share, title);
                String kind = share > DARK ? "on dark" : "on";
                svg.label(kind, left + cell / 2, top + cell / 2, number);
            }
        }
    }

    private static String percent(double share) {
        return Text.format("%.0f", 100 * share);
    }

    private String number(long count) {
        String digits = String.valueOf(count);
        boolean fits = count < 10_000 && Svg.width(digits) <= cell;
        return fits ? digits : Text.format("%.0fk", count / 1000.0);
    }
}
