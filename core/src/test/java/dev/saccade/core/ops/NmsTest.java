package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.saccade.core.structures.Boxes;

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
            assertArrayEquals(
                    byDefinition(corners, scores, groups),
                    Nms.keep(Boxes.of(corners), scores, groups, 0.4f));
        }
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
