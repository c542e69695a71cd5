package dev.saccade.core.ops.script;

import java.util.Optional;

/** Peak rates of the CPU per second: operations (2 per multiply-add), bytes read and written. */
public record Roofline(double operations, double bytes) {

    /** Measures the peak rates in a few seconds; empty if fused operators are not loaded. */
    public static Optional<Roofline> measure() {
        if (!Kernels.status().loaded()) {
            return Optional.empty();
        }
        double[] peaks = Kernels.numbers("ceilings");
        return Optional.of(new Roofline(peaks[0], peaks[1]));
    }
}
