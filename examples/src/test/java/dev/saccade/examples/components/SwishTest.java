package dev.saccade.examples.components;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.nn.Autograd;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.Test;

import java.util.List;

/** A custom fused operator with a portable fallback. */
class SwishTest {

    private static List<float[]> results(NDManager manager) {
        NDArray x = manager.create(new float[] {-2, -0.5f, 0, 1, 3});
        x.setRequiresGradient(true);
        NDList gradients = Autograd.gradients(() -> Swish.activate(x, 1.5).sum(), new NDList(x));
        return List.of(Swish.activate(x, 1.5).toFloatArray(), gradients.get(0).toFloatArray());
    }

    @Test
    void fusedEqualsPortable() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            assertEquals(Kernels.status().loaded(), Swish.LIBRARY.isOn());
            List<float[]> fused = results(manager);
            List<float[]> portable = OperatorLibrary.callPortable(() -> results(manager));
            for (int i = 0; i < fused.size(); i++) {
                assertArrayEquals(portable.get(i), fused.get(i), 1e-6f);
            }
            assertEquals(3 / (1 + Math.exp(-4.5)), fused.get(0)[4], 1e-6);
        }
    }
}
