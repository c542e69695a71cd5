package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.Test;

import java.util.Random;

class MaxIouAssignTest {

    private final Random random = new Random(3);

    /** Includes ties, distant boxes, NaN and skipped boxes. */
    @Test
    void fusedEqualsPortable() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            for (int round = 0; round < 60; round++) {
                int n = 1 + random.nextInt(300);
                float[] corners = corners(n, 40);
                float[] objects = corners(1 + random.nextInt(12), 60);
                if (round % 3 == 0) {
                    corners[random.nextInt(corners.length)] = Float.NaN;
                    objects[random.nextInt(objects.length)] = Float.NaN;
                }
                boolean[] skipped = new boolean[round % 4 == 0 ? n : 0];
                for (int i = 0; i < skipped.length; i++) {
                    skipped[i] = round % 20 == 0 || random.nextBoolean();
                }
                MaxIouAssign rule =
                        new MaxIouAssign(
                                0.5,
                                0.3,
                                random.nextBoolean() ? 0 : 0.3,
                                round % 5 > 0,
                                random.nextBoolean());
                NDArray boxes = manager.create(corners, new Shape(n, 4));
                NDArray wanted = manager.create(objects, new Shape(objects.length / 4, 4));
                NDArray skip =
                        skipped.length == 0
                                ? manager.create(new Shape(0), DataType.BOOLEAN)
                                : manager.create(skipped);
                NDList fused = rule.assign(boxes, wanted, skip);
                NDList portable =
                        OperatorLibrary.callPortable(() -> rule.assign(boxes, wanted, skip));
                assertArrayEquals(
                        portable.get(0).toLongArray(), fused.get(0).toLongArray(), "" + round);
                assertArrayEquals(portable.get(1).toFloatArray(), fused.get(1).toFloatArray());
            }
        }
    }

    private float[] corners(int count, int most) {
        float[] corners = new float[4 * count];
        for (int i = 0; i < corners.length; i += 4) {
            corners[i] = random.nextInt(160) - 30;
            corners[i + 1] = random.nextInt(160) - 30;
            corners[i + 2] = corners[i] + 1 + random.nextInt(most);
            corners[i + 3] = corners[i + 1] + 1 + random.nextInt(most);
        }
        return corners;
    }
}
