package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

class WindowPoolingTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void weightsTokensByPosition() {
        NDArray x = manager.arange(8f).reshape(1, 2, 4, 1);
        NDArray weight = manager.create(new float[] {1, 10, 100, 1000}, new Shape(1, 4));
        NDArray y = WindowPooling.pool(x, weight, manager.create(new float[] {0.5f}), 2);
        assertEquals(new Shape(1, 1, 2, 1), y.getShape());
        assertArrayEquals(new float[] {5410.5f, 7632.5f}, y.toFloatArray());
    }

    /** Channels in full vectors, partial vectors and both; fewer squares than partial sums. */
    @ParameterizedTest
    @CsvSource({"7, 32, 2", "3, 19, 5", "2, 7, 1", "1, 80, 3"})
    void fusedEqualsPortable(int part, int channels, int squares) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        NDList inputs =
                new NDList(
                        manager.randomNormal(
                                new Shape(2, (long) squares * part, 2L * part, channels)),
                        manager.randomNormal(new Shape(1, (long) part * part)),
                        manager.randomNormal(new Shape(1)));
        NDArray cotangent = manager.randomNormal(new Shape(2, squares, 2, channels));
        NDList actual = results(inputs, cotangent, part);
        NDList expected = OperatorLibrary.callPortable(() -> results(inputs, cotangent, part));
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).getShape(), actual.get(i).getShape());
            assertArrayEquals(
                    expected.get(i).toFloatArray(),
                    actual.get(i).toFloatArray(),
                    1e-4f,
                    "result " + i);
        }
    }

    /** Returns the pooled tokens and all gradients. */
    private static NDList results(NDList inputs, NDArray cotangent, int part) {
        NDList results = new NDList();
        List<NDArray> leaves = inputs.stream().map(NDArray::duplicate).toList();
        leaves.forEach(leaf -> leaf.setRequiresGradient(true));
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray y = WindowPooling.pool(leaves.get(0), leaves.get(1), leaves.get(2), part);
            collector.backward(y.mul(cotangent).sum());
            results.add(y.stopGradient());
        }
        leaves.forEach(leaf -> results.add(leaf.getGradient()));
        return results;
    }
}
