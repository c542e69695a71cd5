package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Text;
import dev.saccade.report.LineChart.Range;

import java.util.Locale;
import java.util.stream.IntStream;

/** Maps a value range to coordinates {@code from} to {@code to}, with a tick per {@code step}. */
record Axis(Range range, double from, double to, double step) {

    /** Returns an axis with about {@code ticks} ticks; steps are 1, 2 or 5 times a power of ten. */
    static Axis of(Range range, double from, double to, int ticks) {
        double width = range.high() - range.low();
        double rough = width > 0 ? width / ticks : 1;
        double power = Math.pow(10, Math.floor(Math.log10(rough)));
        double digit = rough / power;
        double round = digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10;
        return new Axis(range, from, to, round * power);
    }

    /** Returns this axis with the upper end of the range rounded up to a tick. */
    Axis upToTick() {
        double last = Math.ceil(range.high() / step - 1e-9) * step;
        return new Axis(new Range(range.low(), last), from, to, step);
    }

    double at(double value) {
        double width = range.high() - range.low();
        return width > 0 ? from + (value - range.low()) / width * (to - from) : (from + to) / 2;
    }

    ImmutableList<Double> ticks() {
        int first = (int) Math.ceil(range.low() / step - 1e-9);
        int last = (int) Math.floor(range.high() / step + 1e-9);
        return IntStream.rangeClosed(first, last)
                .mapToObj(i -> i * step)
                .collect(ImmutableList.toImmutableList());
    }

    /** Formats a tick with the decimals that the step needs. */
    String label(double tick) {
        if (step < 1e-4 || step >= 1e6) {
            return tick == 0 ? "0" : Text.format("%.1e", tick).replace(".0e", "e");
        }
        int decimals = (int) Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
        return String.format(Locale.ROOT, "%,." + decimals + "f", tick);
    }
}
