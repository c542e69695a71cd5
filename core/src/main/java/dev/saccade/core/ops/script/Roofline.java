package dev.saccade.core.ops.script;

import com.google.common.base.Stopwatch;

import java.time.Duration;
import java.util.Optional;

/** Peak rates of the CPU per second: operations (2 per multiply-add), bytes read and written. */
public record Roofline(double operations, double bytes) {

    private static final Duration MAX_TIME = Duration.ofSeconds(10);

    /** Measuring ends if the best rates have not improved by this factor in the last second. */
    private static final double IMPROVEMENT = 1.01;

    /**
     * Measures the peak rates: the best of many short measurements, because other processes disturb
     * them. Takes 1 to 10 seconds. Empty if fused operators are not loaded.
     */
    public static Optional<Roofline> measure() {
        if (!Kernels.status().loaded()) {
            return Optional.empty();
        }
        Stopwatch time = Stopwatch.createStarted();
        Duration improved = Duration.ZERO;
        Roofline best = measureOnce();
        while (time.elapsed().compareTo(MAX_TIME) < 0
                && time.elapsed().minus(improved).toSeconds() < 1) {
            Roofline better = best.max(measureOnce());
            if (better.operations > IMPROVEMENT * best.operations
                    || better.bytes > IMPROVEMENT * best.bytes) {
                improved = time.elapsed();
            }
            best = better;
        }
        return Optional.of(best);
    }

    private static Roofline measureOnce() {
        double[] peaks = Kernels.numbers("ceilings");
        return new Roofline(peaks[0], peaks[1]);
    }

    private Roofline max(Roofline other) {
        return new Roofline(Math.max(operations, other.operations), Math.max(bytes, other.bytes));
    }
}
