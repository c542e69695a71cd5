package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.GradientCollector;

import dev.saccade.core.NativePlatform;
import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

class LinearProductTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @BeforeEach
    void assumeOperator() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
    }

    @AfterEach
    void free() {
        manager.close();
    }

    /** A single row; partial blocks and tiles; tall inputs, whose rows are summed in groups. */
    @ParameterizedTest
    @CsvSource({
        "5, 5, 7, true",
        "1 3, 8, 8, true",
        "2 3 4, 50, 33, false",
        "2 5 100, 200, 390, true",
        "4 40 41, 96, 100, true",
        "1 70 70, 20, 8, false"
    })
    void equalsTheMatrixProductWithGradients(String sizes, int in, int out, boolean biased) {
        long[] rows = Arrays.stream(sizes.split(" ")).mapToLong(Long::parseLong).toArray();
        NDArray x = manager.randomNormal(new Shape(rows).add(in));
        NDArray weight = manager.randomNormal(new Shape(out, in));
        Optional<NDArray> bias =
                biased ? Optional.of(manager.randomNormal(new Shape(out))) : Optional.empty();
        NDArray cotangent = manager.randomNormal(new Shape(rows).add(out));
        assertTrue(Kernels.isFusedForFloat32ProductsOnCpu(x));
        List<NDArray> actual = results(x, weight, bias, cotangent);

        NDArray d = flat(cotangent);
        NDArray y = flat(x).matMul(doubles(weight).transpose());
        List<NDArray> expected = new ArrayList<>();
        expected.add(bias.map(b -> y.add(doubles(b))).orElse(y));
        expected.add(d.matMul(doubles(weight)));
        expected.add(d.transpose().matMul(flat(x)));
        bias.ifPresent(b -> expected.add(d.sum(new int[] {0})));
        assertEquals(expected.size(), actual.size());
        assertEquals(new Shape(rows).add(out), actual.get(0).getShape());
        for (int i = 0; i < expected.size(); i++) {
            NDArray e = expected.get(i);
            double scale = e.abs().max().getDouble();
            double error =
                    doubles(actual.get(i)).reshape(e.getShape()).sub(e).abs().max().getDouble();
            assertTrue(error < 2e-6 * scale, "result " + i + ": " + error + " of " + scale);
        }
    }

    @Test
    void doesNotDependOnTheNumberOfThreads() {
        NDArray x = manager.randomNormal(new Shape(2, 40, 41, 96));
        NDArray weight = manager.randomNormal(new Shape(300, 96));
        Optional<NDArray> bias = Optional.of(manager.randomNormal(new Shape(300)));
        NDArray cotangent = manager.randomNormal(new Shape(2, 40, 41, 300));
        int threads = JniUtils.getNumThreads();
        List<List<NDArray>> results = new ArrayList<>();
        try {
            for (int n = 1; n <= 4; n++) {
                JniUtils.setNumThreads(n);
                results.add(results(x, weight, bias, cotangent));
            }
        } finally {
            JniUtils.setNumThreads(threads);
        }
        // Result and gradient of x are libtorch's, which depend on the threads on Arm.
        int first = NativePlatform.name().endsWith("-aarch64") ? 2 : 0;
        for (List<NDArray> other : results) {
            for (int i = first; i < other.size(); i++) {
                assertArrayEquals(
                        results.get(0).get(i).toFloatArray(), other.get(i).toFloatArray(), 0);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 5, 7", "0 3 4, 5, 7", "2 0 4, 5, 7", "2 3, 0, 7", "2 3 4, 5, 0"})
    void supportsEmptyInputs(String sizes, int in, int out) {
        long[] rows = Arrays.stream(sizes.split(" ")).mapToLong(Long::parseLong).toArray();
        List<NDArray> found =
                results(
                        manager.zeros(new Shape(rows).add(in)),
                        manager.zeros(new Shape(out, in)),
                        Optional.of(manager.ones(new Shape(out))),
                        manager.ones(new Shape(rows).add(out)));
        assertEquals(new Shape(rows).add(out), found.get(0).getShape());
        assertEquals(new Shape(rows).add(in), found.get(1).getShape());
        assertEquals(new Shape(out, in), found.get(2).getShape());
        float summed = Arrays.stream(rows).reduce(1, (a, b) -> a * b);
        for (float gradient : found.get(3).toFloatArray()) {
            assertEquals(summed, gradient, 0);
        }
    }

    @Test
    void supportsBiasSlices() {
        NDArray bias = manager.arange(6f).reshape(3, 2).get(":, 1");
        NDArray y =
                Functional.linear(
                        manager.zeros(new Shape(1, 4)), manager.zeros(new Shape(3, 4)), bias);
        assertArrayEquals(new float[] {1, 3, 5}, y.toFloatArray(), 0);
    }

    @Test
    void doesNotApplyToFloat64() {
        assertEquals(
                false,
                Kernels.isFusedForFloat32ProductsOnCpu(
                        manager.zeros(new Shape(2), DataType.FLOAT64)));
    }

    /** Returns the product and the gradients of input, weight and bias. */
    private List<NDArray> results(
            NDArray x, NDArray weight, Optional<NDArray> bias, NDArray cotangent) {
        List<NDArray> inputs = new ArrayList<>(List.of(x, weight));
        bias.ifPresent(inputs::add);
        List<NDArray> leaves = inputs.stream().map(NDArray::duplicate).toList();
        leaves.forEach(leaf -> leaf.setRequiresGradient(true));
        List<NDArray> results = new ArrayList<>();
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray y =
                    Functional.linear(
                            leaves.get(0),
                            leaves.get(1),
                            bias.map(b -> leaves.get(2)).orElse(null));
            collector.backward(y.mul(cotangent).sum());
            results.add(y.stopGradient());
        }
        leaves.forEach(leaf -> results.add(leaf.getGradient()));
        return results;
    }

    private static NDArray doubles(NDArray array) {
        return array.toType(DataType.FLOAT64, true);
    }

    private static NDArray flat(NDArray map) {
        return doubles(map).reshape(-1, map.getShape().get(map.getShape().dimension() - 1));
    }
}
