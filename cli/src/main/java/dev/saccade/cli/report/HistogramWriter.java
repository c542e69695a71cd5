package dev.saccade.cli.report;

import dev.saccade.cli.report.LineChart.Range;
import dev.saccade.cli.report.ReportData.Bar;
import dev.saccade.cli.report.ReportData.Histogram;

/** Draws a histogram as SVG columns. */
final class HistogramWriter {

    private static final double WIDTH = 380;
    private static final double HEIGHT = 220;
    private static final double LEFT = 44;
    private static final double RIGHT = WIDTH - 8;
    private static final double TOP = 12;
    private static final double BOTTOM = HEIGHT - 40;
    private static final int MOST_LABELS = 12;

    private HistogramWriter() {}

    /** Draws the histogram with its title. */
    static void write(Markup out, Histogram histogram) {
        long most = histogram.bars().stream().mapToLong(Bar::count).max().orElse(0);
        Axis y = Axis.of(new Range(0, (double) Math.max(most, 4)), BOTTOM, TOP, 4).upToTick();
        out.open("figure", "class", "chart").leaf("figcaption", histogram.title());
        Svg svg = new Svg(out, WIDTH, HEIGHT, histogram.title());
        svg.grid(y, LEFT, RIGHT);
        int count = histogram.bars().size();
        double slot = (RIGHT - LEFT) / Math.max(count, 1);
        double gap = Math.min(slot * 0.2, 8);
        int labelled = 1 + (count - 1) / MOST_LABELS;
        for (int i = 0; i < count; i++) {
            Bar bar = histogram.bars().get(i);
            double left = LEFT + i * slot + gap / 2;
            svg.bar(
                    left,
                    y.at((double) bar.count()),
                    left + slot - gap,
                    BOTTOM,
                    bar.name() + ": " + bar.count());
            if (i % labelled == 0) {
                svg.label("x", LEFT + (i + 0.5) * slot, BOTTOM + 16, bar.name());
            }
        }
        svg.label("axis", RIGHT, HEIGHT - 4, histogram.xLabel());
        svg.close();
        out.close();
    }
}
