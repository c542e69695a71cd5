package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

class LayerNormTest {

    private static final float EPS = 1e-2f;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private LayerNorm norm(int channels) {
        LayerNorm norm = new LayerNorm(channels, EPS);
        norm.initialize(manager, 0);
        norm.namedParameters()
                .values()
                .forEach(p -> p.getArray().addi(manager.randomNormal(p.getShape())));
        return norm;
    }

    /** Full vectors, more and fewer channels than a vector, and rows of many parts. */
    @ParameterizedTest
    @ValueSource(ints = {4, 32, 96, 107})
    void fusedEqualsPortableWithGradients(int channels) {
        LayerNorm norm = norm(channels);
        NDList inputs = new NDList();
        for (int i = 0; i < 4; i++) {
            inputs.add(manager.randomNormal(new Shape(2, 3, 25, channels)));
        }
        List<float[]> portable = OperatorLibrary.callPortable(() -> results(norm, inputs));
        List<float[]> chosen = results(norm, inputs);
        for (int i = 0; i < portable.size(); i++) {
            assertArrayEquals(portable.get(i), chosen.get(i), 1e-4f, "result " + i);
        }
    }

    /** Returns the results for one array and for a sum, and all gradients. */
    private static List<float[]> results(LayerNorm norm, NDList inputs) {
        NDArray x = inputs.get(0);
        NDArray y = inputs.get(1);
        List<NDArray> by = new ArrayList<>(List.of(x, y));
        norm.namedParameters().values().forEach(parameter -> by.add(parameter.getArray()));
        by.forEach(array -> array.setRequiresGradient(true));
        NDList values = new NDList();
        values.addAll(
                Autograd.gradients(
                        () -> {
                            NDList ofSum = norm.forwardSum(x, y);
                            NDArray alone = norm.apply(x);
                            values.add(alone.duplicate());
                            ofSum.forEach(value -> values.add(value.duplicate()));
                            return ofSum.get(0)
                                    .mul(inputs.get(2))
                                    .add(ofSum.get(1).mul(inputs.get(3)))
                                    .add(alone.mul(inputs.get(3)))
                                    .sum();
                        },
                        by));
        return values.stream().map(NDArray::toFloatArray).toList();
    }

    @Test
    void normalizesEveryVector() {
        NDArray x = manager.create(new float[] {1, 3, -2, 8}, new Shape(2, 2));
        LayerNorm norm = new LayerNorm(2, EPS);
        norm.initialize(manager, 0);
        double first = 1 / Math.sqrt(1 + EPS);
        double second = 5 / Math.sqrt(25 + EPS);
        float[] expected = {(float) -first, (float) first, (float) -second, (float) second};
        assertArrayEquals(expected, norm.apply(x).toFloatArray(), 1e-6f);
        NDArray half = manager.create(new float[] {0.5f, 1.5f, -1, 4}, new Shape(2, 2));
        NDList ofSum = norm.forwardSum(half, half);
        assertArrayEquals(expected, ofSum.get(0).toFloatArray(), 1e-6f);
        assertArrayEquals(x.toFloatArray(), ofSum.get(1).toFloatArray());
    }
}
