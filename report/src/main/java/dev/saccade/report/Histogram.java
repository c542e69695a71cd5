package dev.saccade.report;

import dev.saccade.report.LineChart.Range;

import java.util.List;

/** A bar chart of counts. */
public record Histogram(String title, String xLabel, List<Bar> bars) implements Block {

    public record Bar(String name, long count) {}

    private static final double WIDTH = 380;
    private static final double HEIGHT = 220;
    private static final double LEFT = 44;
    private static final double RIGHT = WIDTH - 8;
    private static final double TOP = 12;
    private static final double BOTTOM = HEIGHT - 40;
    private static final int MAX_LABELS = 12;
    private static final double MAX_NAME = 90;

    @Override
    public boolean isEmpty() {
        return bars.isEmpty();
    }

    /** Draws the bars; rotates names that do not fit side by side. */
    @Override
    public void write(Markup out) {
        long highest = bars.stream().mapToLong(Bar::count).max().orElse(0);
        Axis y = Axis.of(new Range(0, (double) Math.max(highest, 4)), BOTTOM, TOP, 4).upToTick();
        out.open("figure", "class", "chart").leaf("figcaption", title);
        int count = bars.size();
        double slot = (RIGHT - LEFT) / Math.max(count, 1);
        double gap = Math.min(slot * 0.2, 8);
        int labeled = 1 + (count - 1) / MAX_LABELS;
        double longest = bars.stream().map(Bar::name).mapToDouble(Svg::width).max().orElse(0);
        boolean hanging = longest > slot * labeled;
        double height = hanging ? HEIGHT + Math.min(longest, MAX_NAME) : HEIGHT;
        Svg svg = new Svg(out, WIDTH, height, title);
        svg.grid(y, LEFT, RIGHT);
        for (int i = 0; i < count; i++) {
            Bar bar = bars.get(i);
            double left = LEFT + i * slot + gap / 2;
            svg.bar(
                    left,
                    y.at((double) bar.count()),
                    left + slot - gap,
                    BOTTOM,
                    bar.name() + ": " + bar.count());
            double middle = LEFT + (i + 0.5) * slot;
            if (i % labeled == 0 && hanging) {
                String name = Svg.fitted(bar.name(), MAX_NAME);
                svg.verticalLabel("down", middle, BOTTOM + 8, name);
            } else if (i % labeled == 0) {
                svg.label("x", middle, BOTTOM + 16, bar.name());
            }
        }
        svg.label("axis", RIGHT, height - 4, xLabel);
        svg.close();
        out.close();
    }
}
