package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

class NmsTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Random boxes of several images. */
    private final class Batch {

        private final int images;
        private final int rows;
        private final int classes;
        private final float[] boxes;
        private final float[] scores;
        private final long[] groups;

        Batch(int images, int rows, int classes, int perRow) {
            this.images = images;
            this.rows = rows;
            this.classes = classes;
            boxes = new float[4 * images * rows * perRow];
            scores = new float[images * rows * classes];
            groups = new long[rows];
        }

        int[][] keep(Nms nms) {
            Shape shape = new Shape(images, rows, classes);
            NDArray corners =
                    manager.create(boxes, new Shape(images, boxes.length / 4 / images, 4));
            Nms.Kept kept =
                    nms.keep(corners, manager.create(scores, shape), manager.create(groups));
            long[] counts = kept.counts().toLongArray();
            long[] positions = kept.positions().toLongArray();
            int most = positions.length / images;
            int[][] found = new int[images][];
            for (int n = 0; n < images; n++) {
                int first = n * most;
                found[n] =
                        IntStream.range(first, first + (int) counts[n])
                                .map(i -> (int) positions[i])
                                .toArray();
            }
            return found;
        }

        void assertAllForms(int[][] expected, Nms nms) {
            assertArrayEquals(expected, keep(nms));
            assertArrayEquals(expected, OperatorLibrary.callPortable(() -> keep(nms)));
            assertArrayEquals(expected, DynamicShapes.callWithout(() -> keep(nms)));
        }
    }

    /** With {@code -30}, shifted groups overlap and suppress each other. */
    @ParameterizedTest
    @ValueSource(floats = {0, -30})
    void equalsTheDefinition(float least) {
        Random random = new Random(9);
        Nms nms = new Nms(0.4f, Nms.ANY_SCORE, 1000);
        for (int round = 0; round < 30; round++) {
            int n = 1 + random.nextInt(80);
            Batch batch = new Batch(1, n, 1, 1);
            float[] corners = batch.boxes;
            int[] groups = new int[n];
            for (int i = 0; i < n; i++) {
                corners[4 * i] = least + 30 * random.nextFloat();
                corners[4 * i + 1] = least + 30 * random.nextFloat();
                corners[4 * i + 2] = corners[4 * i] + 20 * random.nextFloat();
                corners[4 * i + 3] = corners[4 * i + 1] + 20 * random.nextFloat();
                batch.scores[i] = random.nextInt(40) / 40f;
                groups[i] = random.nextInt(4);
                batch.groups[i] = groups[i];
            }
            int[] expected = byDefinition(corners, batch.scores, groups);
            batch.assertAllForms(new int[][] {expected}, nms);
            int[] best = Arrays.copyOf(expected, Math.min(7, expected.length));
            batch.assertAllForms(new int[][] {best}, new Nms(0.4f, Nms.ANY_SCORE, 7));
        }
    }

    /**
     * Boxes shared by all classes and per class; several images; few scores above the threshold.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void separatesClasses(boolean perClass) {
        Random random = new Random(2);
        int classes = 3;
        for (int round = 0; round < 10; round++) {
            int rows = 1 + random.nextInt(60);
            int perRow = perClass ? classes : 1;
            Batch batch = new Batch(2, rows, classes, perRow);
            for (int i = 0; i < batch.boxes.length; i += 4) {
                batch.boxes[i] = 30 * random.nextFloat();
                batch.boxes[i + 1] = 30 * random.nextFloat();
                batch.boxes[i + 2] = batch.boxes[i] + 20 * random.nextFloat();
                batch.boxes[i + 3] = batch.boxes[i + 1] + 20 * random.nextFloat();
            }
            for (int i = 0; i < batch.scores.length; i++) {
                batch.scores[i] = random.nextFloat();
            }
            int[][] expected = new int[2][];
            for (int n = 0; n < 2; n++) {
                int first = n * rows * classes;
                int[] above =
                        IntStream.range(0, rows * classes)
                                .filter(i -> batch.scores[first + i] > 0.6f)
                                .toArray();
                float[] corners = new float[4 * above.length];
                float[] scores = new float[above.length];
                for (int k = 0; k < above.length; k++) {
                    int box = n * rows * perRow + (perClass ? above[k] : above[k] / classes);
                    System.arraycopy(batch.boxes, 4 * box, corners, 4 * k, 4);
                    scores[k] = batch.scores[first + above[k]];
                }
                int[] groups = Arrays.stream(above).map(i -> i % classes).toArray();
                expected[n] =
                        Arrays.stream(byDefinition(corners, scores, groups))
                                .map(k -> above[k])
                                .limit(20)
                                .toArray();
            }
            batch.assertAllForms(expected, new Nms(0.4f, 0.6f, 20));
        }
    }

    /** All kinds of scores; degenerate boxes; distant groups, which lose precision. */
    @Test
    void allFormsAgree() {
        Random random = new Random(4);
        float[] odd = {
            Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -0f, -1, -2, 1e-40f
        };
        for (int round = 0; round < 20; round++) {
            int n = 1 + random.nextInt(700);
            Batch batch = new Batch(1, n, 1, 1);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < 4; j++) {
                    batch.boxes[4 * i + j] = 20 * random.nextFloat() + (j < 2 ? 0 : 15);
                }
                batch.scores[i] = i % 5 == 0 ? odd[random.nextInt(odd.length)] : random.nextFloat();
                batch.groups[i] = random.nextInt(3) * (round < 10 ? 1L : 70_000L);
            }
            if (round % 5 == 4) {
                batch.boxes[random.nextInt(4 * n)] = Float.NaN;
            }
            Nms nms = new Nms(0.5f, Nms.ANY_SCORE, round % 2 == 0 ? n : 50);
            batch.assertAllForms(OperatorLibrary.callPortable(() -> batch.keep(nms)), nms);
        }
    }

    @Test
    void supportsEmptyInputs() {
        Nms nms = new Nms(0.5f, 0, 10);
        assertEquals(0, new Batch(1, 0, 1, 1).keep(nms)[0].length);
        assertEquals(0, new Batch(2, 5, 3, 1).keep(nms)[1].length);
    }

    private static int[] byDefinition(float[] corners, float[] scores, int[] groups) {
        float max = 0;
        for (float corner : corners) {
            max = Math.max(max, corner);
        }
        float[] b = corners.clone();
        for (int i = 0; i < b.length; i++) {
            b[i] += groups[i / 4] * (max + 1);
        }
        int[] order =
                IntStream.range(0, scores.length)
                        .boxed()
                        .sorted((i, j) -> Float.compare(scores[j], scores[i]))
                        .mapToInt(Integer::intValue)
                        .toArray();
        int[] kept = new int[0];
        for (int i : order) {
            if (IntStream.of(kept).noneMatch(j -> iou(b, 4 * j, 4 * i) > 0.4f)) {
                kept = IntStream.concat(IntStream.of(kept), IntStream.of(i)).toArray();
            }
        }
        return kept;
    }

    private static float iou(float[] b, int i, int j) {
        float width = Math.min(b[i + 2], b[j + 2]) - Math.max(b[i], b[j]);
        float height = Math.min(b[i + 3], b[j + 3]) - Math.max(b[i + 1], b[j + 1]);
        float shared = Math.max(width, 0) * Math.max(height, 0);
        float area = (b[i + 2] - b[i]) * (b[i + 3] - b[i + 1]);
        float other = (b[j + 2] - b[j]) * (b[j + 3] - b[j + 1]);
        return shared / (area + other - shared);
    }
}
