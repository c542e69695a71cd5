package dev.saccade.core.ops.script;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;

import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.Tensors;

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
        Script script = Script.compile("(x: Tensor) -> Tensor", "return ops.saccade.ceilings()");
        try (NDArray none = Tensors.of(Libtorch.newManager(Device.cpu()), 0);
                NDArray measured = script.run(none)) {
            double[] values = measured.toDoubleArray();
            return Optional.of(new Roofline(values[0], values[1]));
        }
    }
}
