package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.WeightInit;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.Arrays;

class TensorsTest {

    private static final int VALUES = 1 << 16;

    /** Lets the garbage collector free Java buffers and overwrites their memory. */
    private static void reuseFreedBuffers() throws InterruptedException {
        for (int round = 0; round < 3; round++) {
            System.gc();
            Thread.sleep(50);
            for (int i = 0; i < 8; i++) {
                ByteBuffer other = ByteBuffer.allocateDirect(4 * VALUES);
                while (other.hasRemaining()) {
                    other.put((byte) 0x7f);
                }
            }
        }
    }

    private static float[] ones() {
        float[] values = new float[VALUES];
        Arrays.fill(values, 1);
        return values;
    }

    @Test
    void viewsOutliveTheArray() throws InterruptedException {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray view;
            try (NDArray array = Tensors.of(manager, ones(), new Shape(256, 256))) {
                view = array.transpose();
            }
            reuseFreedBuffers();
            assertArrayEquals(ones(), view.toFloatArray());
        }
    }

    @Test
    void pointwiseWeightsOutliveTheirInitialValues() throws InterruptedException {
        try (NDManager manager = NDManager.newBaseManager()) {
            Conv2d conv = new Conv2d(new Geometry(256, 256, 1), WeightInit.ONES);
            conv.initialize(manager, 0);
            reuseFreedBuffers();
            assertArrayEquals(
                    ones(), conv.namedParameters().get("weight").getArray().toFloatArray());
        }
    }
}
