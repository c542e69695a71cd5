package dev.saccade.core.ops.script;

import java.util.Optional;

/**
 * What the processor can do at best with the threads of the engine.
 *
 * @param operations additions and multiplications of floats a second
 * @param bytes read and written a second
 */
public record Roofline(double operations, double bytes) {

    /** Measures them, which takes seconds; none where the fused operators are not loaded. */
    public static Optional<Roofline> measure() {
        if (!Kernels.status().loaded()) {
            return Optional.empty();
        }
        double[] peaks = Kernels.numbers("ceilings");
        return Optional.of(new Roofline(peaks[0], peaks[1]));
    }
}
