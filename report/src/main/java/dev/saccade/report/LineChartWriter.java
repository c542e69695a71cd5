package dev.saccade.report;

import com.google.common.primitives.Doubles;

import dev.saccade.core.Text;
import dev.saccade.report.LineChart.Range;
import dev.saccade.report.LineChart.Series;

import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;

/** Draws a line chart as SVG. */
final class LineChartWriter {

    /** Number of colors in the style sheet. */
    private static final int COLORS = 8;

    private static final double WIDTH = 560;
    private static final double HEIGHT = 260;
    private static final double LEFT = 52;
    private static final double RIGHT = WIDTH - 12;
    private static final double TOP = 12;
    private static final double BOTTOM = HEIGHT - 40;
    private static final int MAX_POINTS = 500;

    private final Markup out;
    private final LineChart chart;
    private final Axis x;
    private final Axis y;

    LineChartWriter(Markup out, LineChart chart) {
        this.out = out;
        this.chart = chart;
        Range xRange = chart.xRange().orElseGet(() -> dataRange(true));
        this.x = Axis.of(xRange, LEFT, RIGHT, 6);
        Range yRange = chart.yRange().orElseGet(() -> dataRange(false));
        Range fromZero = new Range(Math.min(yRange.low(), 0), yRange.high());
        this.y = Axis.of(fromZero, BOTTOM, TOP, 5).upToTick();
    }

    void write() {
        out.open("figure", "class", "chart").leaf("figcaption", chart.title());
        legend();
        Svg svg = new Svg(out, WIDTH, HEIGHT, chart.title());
        svg.grid(y, LEFT, RIGHT);
        for (double tick : x.ticks()) {
            svg.label("x", x.at(tick), BOTTOM + 16, x.label(tick));
        }
        svg.label("axis", RIGHT, HEIGHT - 4, chart.xLabel());
        for (int i = 0; i < chart.series().size(); i++) {
            curve(i);
        }
        cursor();
        svg.close();
        out.close();
    }

    /** Draws the cursor line, with the ranges that the script needs to read values. */
    private void cursor() {
        String range = plain(x.range().low()) + " " + plain(x.range().high());
        String stretch = Svg.number(LEFT) + " " + Svg.number(RIGHT);
        String rise = "M0 " + Svg.number(TOP) + "V" + Svg.number(BOTTOM);
        out.empty(
                "path", "class", "cursor", "d", rise, "data-range", range, "data-stretch", stretch);
    }

    private void legend() {
        out.open("ul", "class", "legend");
        for (int i = 0; i < chart.series().size(); i++) {
            Series series = chart.series().get(i);
            out.open("li", "style", style(i)).text(series.name());
            int points = series.y().size();
            if (points > 0 && chart.xRange().isEmpty()) {
                out.text(" ").leaf("b", shortNumber(shown(series).get(points - 1)));
            }
            out.close();
        }
        out.close();
    }

    private void curve(int i) {
        Series series = chart.series().get(i);
        if (chart.hasRunningMean()) {
            String raw = path(series.x(), series.y());
            out.empty("path", "class", "raw", "style", style(i), "d", raw);
        }
        String path = path(series.x(), shown(series));
        String points = points(series.x(), shown(series));
        String kind =
                "curve"
                        + (isOverall(series) ? " all" : "")
                        + (isSinglePoint(shown(series)) ? " lone" : "");
        out.open("path", "class", kind, "style", style(i), "d", path, "data-points", points);
        out.leaf("title", series.name()).close();
    }

    private static boolean isSinglePoint(List<Double> ys) {
        return ys.stream().filter(Double::isFinite).count() == 1;
    }

    /** Returns whether a curve is about all classes, in a chart with curves of single classes. */
    private boolean isOverall(Series series) {
        return series.rgb().isEmpty()
                && chart.series().stream().anyMatch(other -> other.rgb().isPresent());
    }

    private String style(int i) {
        Series series = chart.series().get(i);
        return series.rgb()
                .map(Report::style)
                .orElse(isOverall(series) ? "--c:var(--ink)" : "--c:var(--c" + i % COLORS + ")");
    }

    private List<Double> shown(Series series) {
        return chart.hasRunningMean() ? runningMean(series.y()) : series.y();
    }

    /** Returns the SVG path of a curve; a point without neighbors becomes a dot. */
    private String path(List<Double> xs, List<Double> ys) {
        StringBuilder path = new StringBuilder();
        boolean pen = false;
        for (int i = 0; i < xs.size(); i += stride(xs.size(), i)) {
            boolean drawn = Double.isFinite(ys.get(i));
            if (drawn) {
                path.append(pen ? 'L' : 'M').append(Svg.number(x.at(xs.get(i)))).append(' ');
                path.append(Svg.number(y.at(Math.min(ys.get(i), y.range().high()))));
                path.append(pen ? "" : "h0");
            }
            pen = drawn;
        }
        return path.toString();
    }

    private String points(List<Double> xs, List<Double> ys) {
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < xs.size(); i += stride(xs.size(), i)) {
            if (Double.isFinite(ys.get(i))) {
                points.append(plain(xs.get(i))).append(' ');
                points.append(plain(ys.get(i))).append(' ');
            }
        }
        return points.toString().strip();
    }

    /** Returns how many points to advance to the next drawn point; the last is always drawn. */
    private static int stride(int length, int at) {
        int stride = 1 + (length - 1) / MAX_POINTS;
        boolean beforeLast = at < length - 1 && at + stride > length - 1;
        return beforeLast ? length - 1 - at : stride;
    }

    /**
     * Returns the mean over 1/20 of the curve around each drawn point; NaN elsewhere and at gaps.
     * Windows are summed separately, so that a spike affects no other window.
     */
    private static List<Double> runningMean(List<Double> values) {
        int half = values.size() / 40;
        double[] means = new double[values.size()];
        Arrays.fill(means, Double.NaN);
        for (int i = 0; i < means.length; i += stride(means.length, i)) {
            if (Double.isFinite(values.get(i))) {
                int from = Math.max(i - half, 0);
                int to = Math.min(i + half + 1, means.length);
                means[i] =
                        values.subList(from, to).stream()
                                .filter(Double::isFinite)
                                .mapToDouble(Double::doubleValue)
                                .average()
                                .orElseThrow();
            }
        }
        return Doubles.asList(means);
    }

    /** Returns the range of all finite values; 0 to 1 if there are none, or if no y is positive. */
    private Range dataRange(boolean ofX) {
        DoubleSummaryStatistics values =
                chart.series().stream()
                        .flatMap(series -> (ofX ? series.x() : series.y()).stream())
                        .filter(Double::isFinite)
                        .mapToDouble(Double::doubleValue)
                        .summaryStatistics();
        boolean nothing = values.getCount() == 0 || (!ofX && values.getMax() <= 0);
        return nothing ? Range.UNIT : new Range(values.getMin(), values.getMax());
    }

    private static String plain(double value) {
        return Text.format("%.5g", value);
    }

    private static String shortNumber(double value) {
        if (!Double.isFinite(value)) {
            return "n/a";
        }
        // %g would write 1260 as 1.26e+03.
        return Math.abs(value) >= 1000 ? Text.format("%,.0f", value) : Text.format("%.3g", value);
    }
}
