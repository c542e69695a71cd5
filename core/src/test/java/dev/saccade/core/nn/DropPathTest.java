package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.stream.LongStream;

class DropPathTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void keepsTheExpectationAndDropsWholeSamples() {
        float[] kept = drop(new DropPath(0.25), 0, LongStream.range(0, 4000).toArray());
        int dropped = 0;
        for (float value : kept) {
            assertEquals(value == 0 ? 0 : 1 / 0.75f, value, 1e-6f);
            dropped += value == 0 ? 1 : 0;
        }
        assertEquals(1000, dropped, 100);
    }

    @Test
    void dependsOnlyOnEpochSampleAndLayer() {
        DropPath layer = named("layers.0.drop");
        DropPath other = named("layers.1.drop");
        float[] first = drop(layer, 1, 3, 5, 8, 13, 21, 34, 55, 89);
        float[] reversed = drop(layer, 1, 89, 55, 34, 21, 13, 8, 5, 3);
        for (int i = 0; i < first.length; i++) {
            assertEquals(first[i], reversed[first.length - 1 - i]);
        }
        long[] many = LongStream.range(0, 64).toArray();
        assertArrayEquals(drop(layer, 1, many), drop(layer, 1, many));
        assertDiffers(drop(layer, 1, many), drop(layer, 2, many));
        assertDiffers(drop(layer, 1, many), drop(other, 1, many));
    }

    @Test
    void isTheIdentityInInferenceAndAtRateZero() {
        NDArray x = manager.ones(new Shape(2, 3));
        assertSame(x, new DropPath(0).apply(x));
        DropPath layer = new DropPath(0.9);
        layer.train(false);
        assertSame(x, layer.apply(x));
        assertThrows(IllegalArgumentException.class, () -> new DropPath(1));
    }

    private static DropPath named(String name) {
        DropPath layer = new DropPath(0.5);
        new Layer() {
            {
                add(name, layer);
            }

            @Override
            protected NDArray forward(NDArray x) {
                return layer.apply(x);
            }
        };
        return layer;
    }

    private float[] drop(DropPath layer, long epoch, long... samples) {
        NDArray x = manager.ones(new Shape(samples.length, 1));
        return SampleRandom.call(5, epoch, samples, () -> layer.apply(x)).toFloatArray();
    }

    private static void assertDiffers(float[] a, float[] b) {
        assertFalse(Arrays.equals(a, b));
    }
}
