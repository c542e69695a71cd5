package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.function.BinaryOperator;

class DotProductAttentionTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Many queries per key, which are split into parts, also an odd number, and few. */
    @ParameterizedTest
    @CsvSource({"16, 8, 2, 1, 1", "9, 7, 2, 2, 2", "4, 4, 4, 4, 4"})
    void equalsTheDefinitionWithGradients(long h, long w, long kh, long kw, int heads) {
        NDArray q = learned(new Shape(2, h, w, 8));
        NDArray kv = learned(new Shape(2, kh, kw, 16));
        NDArray weights = manager.randomNormal(q.getShape());
        float[][] expected = results(q, kv, weights, (a, b) -> composed(a, b, heads));
        float[][] actual =
                results(q, kv, weights, (a, b) -> DotProductAttention.attend(a, b, heads));
        for (int i = 0; i < 3; i++) {
            float largest = 1;
            for (float x : expected[i]) {
                largest = Math.max(largest, Math.abs(x));
            }
            assertArrayEquals(expected[i], actual[i], 1e-5f * largest);
        }
        assertArrayEquals(
                actual, results(q, kv, weights, (a, b) -> DotProductAttention.attend(a, b, heads)));
    }

    private NDArray learned(Shape shape) {
        NDArray x = manager.randomNormal(shape);
        x.setRequiresGradient(true);
        return x;
    }

    private static float[][] results(
            NDArray q, NDArray kv, NDArray weights, BinaryOperator<NDArray> attention) {
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray out = attention.apply(q, kv);
            assertEquals(q.getShape(), out.getShape());
            collector.backward(out.mul(weights).sum());
            float[][] results = {
                out.toFloatArray(), q.getGradient().toFloatArray(), kv.getGradient().toFloatArray()
            };
            q.getGradient().muli(0);
            kv.getGradient().muli(0);
            return results;
        }
    }

    private static NDArray composed(NDArray q, NDArray kv, int heads) {
        long d = q.getShape().get(3) / heads;
        NDArray queries = q.reshape(2, -1, heads, d).transpose(0, 2, 1, 3);
        NDArray pairs = kv.reshape(2, -1, 2, heads, d).transpose(2, 0, 3, 1, 4);
        NDArray scale = Tensors.of(q.getManager(), (float) (1 / Math.sqrt((double) d)));
        NDArray logits = queries.matMul(pairs.get(0).transpose(0, 1, 3, 2)).mul(scale);
        return logits.softmax(-1).matMul(pairs.get(1)).transpose(0, 2, 1, 3).reshape(q.getShape());
    }

    @Test
    void countsItsMultiplyAdds() {
        NDArray q = manager.ones(new Shape(1, 4, 4, 8));
        NDArray kv = manager.ones(new Shape(1, 2, 2, 16));
        long count = MultiplyAdds.count(() -> DotProductAttention.attend(q, kv, 2));
        assertEquals(2L * 16 * 4 * 8, count);
    }
}
