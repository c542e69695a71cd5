package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.Doubles;

import dev.saccade.models.draw.ClassColors;

import java.util.List;
import java.util.Optional;

/**
 * Curves over a common axis.
 *
 * @param title caption
 * @param xLabel unit of the x axis
 * @param series the curves
 * @param xRange range of the x axis; empty for the range of the points
 * @param yRange range of the y axis; empty for 0 to a round number above all points
 * @param noisy whether to draw a running mean over the points
 */
public record LineChart(
        String title,
        String xLabel,
        List<Series> series,
        Optional<Range> xRange,
        Optional<Range> yRange,
        boolean noisy)
        implements Block {

    /** Creates a chart whose axes fit its points. */
    public LineChart(String title, String xLabel, List<Series> series) {
        this(title, xLabel, series, Optional.empty(), Optional.empty(), false);
    }

    /** Returns this chart with a running mean drawn over the points. */
    public LineChart smoothed() {
        return new LineChart(title, xLabel, series, xRange, yRange, true);
    }

    /** Returns this chart with a y axis from 0 to 1. */
    public LineChart ofShares() {
        return new LineChart(title, xLabel, series, xRange, Optional.of(Range.UNIT), noisy);
    }

    /** Returns this chart with both axes from 0 to 1. */
    public LineChart inUnitSquare() {
        Optional<Range> unit = Optional.of(Range.UNIT);
        return new LineChart(title, xLabel, series, unit, unit, noisy);
    }

    @Override
    public boolean isEmpty() {
        return series.isEmpty();
    }

    @Override
    public void write(Markup out) {
        new LineChartWriter(out, this).write();
    }

    /**
     * A curve.
     *
     * @param name of the curve
     * @param x positions, ascending
     * @param y values; NaN leaves a gap
     * @param rgb color of the class that the curve is about, {@code 0xRRGGBB}; empty for a color of
     *     its own, or black beside curves of classes
     */
    public record Series(String name, List<Double> x, List<Double> y, Optional<Integer> rgb) {

        /** Checks that there is a value for each position. */
        public Series {
            checkArgument(x.size() == y.size(), "%s x and %s y", x.size(), y.size());
        }

        /** Creates a curve; the arrays are copied. */
        public static Series of(String name, double[] x, double[] y) {
            return new Series(
                    name, Doubles.asList(x.clone()), Doubles.asList(y.clone()), Optional.empty());
        }

        /** Returns the curve in the color of a class in pictures. */
        public Series ofClass(int label) {
            return new Series(name, x, y, Optional.of(ClassColors.rgb(label)));
        }
    }

    /**
     * The ends of an axis.
     *
     * @param low left or lower end
     * @param high right or upper end
     */
    public record Range(double low, double high) {

        /** From 0 to 1. */
        static final Range UNIT = new Range(0, 1);
    }
}
