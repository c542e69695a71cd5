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

class Dropout2dTest {

    private static final int CHANNELS = 1000;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void keepsTheExpectationAndDropsWholeChannels() {
        float[] kept = drop(new Dropout2d(0.1), 0, 1, 2, 3, 4);
        int dropped = 0;
        for (int i = 0; i < kept.length; i += 2) {
            assertEquals(kept[i], kept[i + 1]);
            assertEquals(kept[i] == 0 ? 0 : 1 / 0.9f, kept[i], 1e-6f);
            dropped += kept[i] == 0 ? 1 : 0;
        }
        assertEquals(0.1 * 4 * CHANNELS, dropped, 60);
    }

    @Test
    void dependsOnlyOnEpochSampleAndLayer() {
        Dropout2d layer = named("layers.0.drop");
        Dropout2d other = named("layers.1.drop");
        float[] both = drop(layer, 1, 3, 5);
        int half = both.length / 2;
        assertArrayEquals(Arrays.copyOf(both, half), drop(layer, 1, 3));
        assertArrayEquals(Arrays.copyOfRange(both, half, 2 * half), drop(layer, 1, 5));
        assertFalse(Arrays.equals(both, drop(layer, 2, 3, 5)));
        assertFalse(Arrays.equals(both, drop(other, 1, 3, 5)));
    }

    @Test
    void isTheIdentityInInferenceAndAtRateZero() {
        NDArray x = manager.ones(new Shape(2, 3, 1, 1));
        assertSame(x, new Dropout2d(0).apply(x));
        Dropout2d layer = new Dropout2d(0.9);
        layer.train(false);
        assertSame(x, layer.apply(x));
        assertThrows(IllegalArgumentException.class, () -> new Dropout2d(1));
    }

    private static Dropout2d named(String name) {
        Dropout2d layer = new Dropout2d(0.5);
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

    private float[] drop(Dropout2d layer, long epoch, long... samples) {
        NDArray x = manager.ones(new Shape(samples.length, CHANNELS, 1, 2));
        return SampleRandom.call(5, epoch, samples, () -> layer.apply(x)).toFloatArray();
    }
}
