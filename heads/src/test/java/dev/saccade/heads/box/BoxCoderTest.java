package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.SplittableRandom;

class BoxCoderTest {

    @Test
    void decodesTheBoxOfTheSpecification() {
        BoxCoder coder =
                new DeltaXywhBoxCoder(List.of(0., 0., 0., 0.), List.of(0.1, 0.1, 0.2, 0.2));
        Boxes decoded =
                coder.decode(Boxes.of(10, 10, 50, 30), new float[] {0.1f, -0.2f, 0.3f, -0.4f});
        assertBox(new float[] {9.1633f, 10.3688f, 51.6367f, 28.8312f}, decoded, 0);
    }

    @Test
    void decodingUndoesEncoding() {
        BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class);
        Boxes from = Boxes.of(3, 4, 20, 40, 0, 0, 8, 8);
        Boxes to = Boxes.of(5, 1, 30, 28, 2, 3, 4, 5);
        assertArrayEquals(
                to.toArray(), coder.decode(from, coder.encode(from, to)).toArray(), 1e-4f);
    }

    @Test
    void codesNothing() {
        BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class);
        assertEquals(0, coder.encode(Boxes.empty(), Boxes.empty()).length);
        assertEquals(0, coder.decode(Boxes.empty(), new float[0]).size());
    }

    @Test
    void decodingOnTheDeviceIsThatOnTheHost() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            SplittableRandom random = new SplittableRandom(2);
            float[] corners = new float[4 * 30];
            float[] deltas = new float[4 * 30];
            for (int i = 0; i < corners.length; i++) {
                corners[i] = (float) random.nextDouble(i % 4 < 2 ? 0 : 50, i % 4 < 2 ? 50 : 90);
                deltas[i] = (float) random.nextDouble(-30, 30);
            }
            BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class, "stds=[0.1, 0.1, 0.2, 0.2]");
            Shape shape = new Shape(30, 4);
            NDArray decoded =
                    coder.decode(manager.create(corners, shape), manager.create(deltas, shape));
            assertArrayEquals(
                    coder.decode(Boxes.of(corners), deltas).toArray(),
                    decoded.toFloatArray(),
                    1e-2f);
        }
    }

    private static void assertBox(float[] expected, Boxes boxes, int i) {
        assertArrayEquals(expected, boxes.select(i).toArray(), 1e-4f);
    }
}
