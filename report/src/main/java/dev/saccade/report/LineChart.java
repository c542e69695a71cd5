package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.models.draw.ClassColors;

import java.util.List;
import java.util.Optional;

/**
 * Curves over a common axis.
 *
 * @param title what is shown
 * @param xLabel what runs from left to right
 * @param series the curves
 * @param xRange the ends of the x axis; empty for those of the points
 * @param yRange the ends of the y axis; empty for 0 and a round number above all points
 * @param noisy whether to draw a running mean over the points
 */
public record LineChart(
        String title,
        String xLabel,
        List<Series> series,
        Optional<Range> xRange,
        Optional<Range> yRange,
        boolean noisy) {

    /** Makes a chart whose axes fit its points. */
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

    /**
     * One curve.
     *
     * @param name of the curve
     * @param x positions, ascending
     * @param y values; NaN leaves a gap
     * @param rgb the color of the class it is about, {@code 0xRRGGBB}; beside such curves one of no
     *     class stands out, and without any each has a color of its own
     */
    public record Series(
            String name, ImmutableDoubleArray x, ImmutableDoubleArray y, Optional<Integer> rgb) {

        /** Checks that there is a value for each position. */
        public Series {
            checkArgument(x.length() == y.length(), "%s x and %s y", x.length(), y.length());
        }

        /** Makes a curve; the arrays are copied. */
        public static Series of(String name, double[] x, double[] y) {
            return new Series(
                    name,
                    ImmutableDoubleArray.copyOf(x),
                    ImmutableDoubleArray.copyOf(y),
                    Optional.empty());
        }

        /** Returns the curve in the color that a class has in pictures. */
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
