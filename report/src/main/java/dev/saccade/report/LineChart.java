package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.Doubles;

import dev.saccade.models.draw.ClassColors;

import java.util.List;
import java.util.Optional;

/** Curves with a common x axis. Empty ranges are fitted to the points; y includes 0. */
public record LineChart(
        String title,
        String xLabel,
        List<Series> series,
        Optional<Range> xRange,
        Optional<Range> yRange,
        boolean hasRunningMean)
        implements Block {

    public LineChart(String title, String xLabel, List<Series> series) {
        this(title, xLabel, series, Optional.empty(), Optional.empty(), false);
    }

    /** Returns this chart with a running mean drawn over each curve. */
    public LineChart smoothed() {
        return new LineChart(title, xLabel, series, xRange, yRange, true);
    }

    /** Returns this chart with a y axis from 0 to 1. */
    public LineChart withUnitYAxis() {
        return new LineChart(
                title, xLabel, series, xRange, Optional.of(Range.UNIT), hasRunningMean);
    }

    /** Returns this chart with both axes from 0 to 1. */
    public LineChart withUnitAxes() {
        Optional<Range> unit = Optional.of(Range.UNIT);
        return new LineChart(title, xLabel, series, unit, unit, hasRunningMean);
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
     * A curve with ascending x; NaN in y leaves a gap. Without {@code rgb}, the color is automatic.
     */
    public record Series(String name, List<Double> x, List<Double> y, Optional<Integer> rgb) {

        public Series {
            checkArgument(
                    x.size() == y.size(), "got %s x values and %s y values", x.size(), y.size());
        }

        /** Creates a curve; copies the arrays. */
        public static Series of(String name, double[] x, double[] y) {
            return new Series(
                    name, Doubles.asList(x.clone()), Doubles.asList(y.clone()), Optional.empty());
        }

        /** Returns the curve in the color of a class. */
        public Series ofClass(int label) {
            return new Series(name, x, y, Optional.of(ClassColors.rgb(label)));
        }
    }

    public record Range(double low, double high) {

        static final Range UNIT = new Range(0, 1);
    }
}
