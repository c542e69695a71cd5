package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Boxes;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;
import java.util.stream.IntStream;

class NmsTest {

    /** With {@code -30}, shifted groups reach into each other and suppress across. */
    @ParameterizedTest
    @ValueSource(floats = {0, -30})
    void keepsWhatTheDefinitionKeeps(float least) {
        Random random = new Random(9);
        for (int round = 0; round < 30; round++) {
            int n = random.nextInt(80);
            float[] corners = new float[4 * n];
            float[] scores = new float[n];
            int[] groups = new int[n];
            for (int i = 0; i < n; i++) {
                corners[4 * i] = least + 30 * random.nextFloat();
                corners[4 * i + 1] = least + 30 * random.nextFloat();
                corners[4 * i + 2] = corners[4 * i] + 20 * random.nextFloat();
                corners[4 * i + 3] = corners[4 * i + 1] + 20 * random.nextFloat();
                scores[i] = random.nextInt(40) / 40f;
                groups[i] = random.nextInt(4);
            }
            int[] expected = byDefinition(corners, scores, groups);
            Boxes boxes = Boxes.of(corners);
            assertArrayEquals(expected, Nms.keep(boxes, scores, groups, 0.4f));
            assertArrayEquals(expected, Nms.portable(boxes, scores, groups, 0.4f));
        }
    }

    /** Scores of all kinds; boxes that are none; groups far apart, which need many digits. */
    @Test
    void allFormsKeepTheSame() {
        Random random = new Random(4);
        float[] odd = {
            Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -0f, -1, -2, 1e-40f
        };
        for (int round = 0; round < 20; round++) {
            int n = 1 + random.nextInt(700);
            float[] corners = new float[4 * n];
            float[] scores = new float[n];
            int[] groups = new int[n];
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < 4; j++) {
                    corners[4 * i + j] = 20 * random.nextFloat() + (j < 2 ? 0 : 15);
                }
                scores[i] = i % 5 == 0 ? odd[random.nextInt(odd.length)] : random.nextFloat();
                groups[i] = random.nextInt(3) * (round < 10 ? 1 : 70_000);
            }
            if (round % 5 == 4) {
                corners[random.nextInt(4 * n)] = Float.NaN;
            }
            Boxes boxes = Boxes.of(corners);
            assertArrayEquals(
                    Nms.portable(boxes, scores, groups, 0.5f),
                    Nms.keep(boxes, scores, groups, 0.5f),
                    "round " + round);
        }
    }

    @Test
    void keepsNothingOfNothing() {
        assertEquals(0, Nms.keep(Boxes.empty(), new float[0], new int[0], 0.5f).length);
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
