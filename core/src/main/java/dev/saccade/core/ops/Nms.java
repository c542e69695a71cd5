package dev.saccade.core.ops;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.Boxes;

import java.util.Arrays;

/**
 * Greedy non-maximum suppression within groups, such as classes or levels.
 *
 * <p>Follows mmcv's {@code batched_nms}: the boxes of group {@code g} are shifted by {@code g *
 * (max + 1)} in float32, and a box goes if its IoU with a better one that stays is strictly greater
 * than the threshold. The shift makes coordinates coarse; it is kept because it decides close
 * cases.
 */
public final class Nms {

    private Nms() {}

    /**
     * Returns the positions of the boxes that stay, in descending order of score; of equal scores
     * the first comes first.
     *
     * @param boxes [N] boxes
     * @param scores [N] scores
     * @param groups [N] group of each box, from 0; boxes of different groups leave each other alone
     * @param iouThreshold boxes that overlap more go
     */
    public static int[] keep(Boxes boxes, float[] scores, int[] groups, float iouThreshold) {
        int n = boxes.size();
        checkArgument(scores.length == n && groups.length == n, "one score and group a box");
        float[] shifted = shift(boxes, groups);
        int[] order = descending(scores);
        float[] area = new float[n];
        for (int i = 0; i < n; i++) {
            area[i] =
                    (shifted[4 * i + 2] - shifted[4 * i])
                            * (shifted[4 * i + 3] - shifted[4 * i + 1]);
        }
        // Where no coordinate is far below 0, shifted groups cannot touch.
        boolean apart = min(boxes) > -1;
        boolean[] gone = new boolean[n];
        int[] kept = new int[n];
        int count = 0;
        for (int a = 0; a < n; a++) {
            int i = order[a];
            if (gone[i]) {
                continue;
            }
            kept[count++] = i;
            for (int b = a + 1; b < n; b++) {
                int j = order[b];
                if (!gone[j]
                        && (!apart || groups[i] == groups[j])
                        && overlap(shifted, area, i, j, iouThreshold)) {
                    gone[j] = true;
                }
            }
        }
        return Arrays.copyOf(kept, count);
    }

    /** Returns the positions of {@code values} in descending order, equal ones in given order. */
    public static int[] descending(float[] values) {
        long[] keys = new long[values.length];
        for (int i = 0; i < values.length; i++) {
            int bits = Float.floatToIntBits(values[i]);
            int ascending = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
            keys[i] = ((long) ~ascending << 32) | i;
        }
        Arrays.sort(keys);
        return Arrays.stream(keys).mapToInt(key -> (int) key).toArray();
    }

    private static float[] shift(Boxes boxes, int[] groups) {
        float[] shifted = boxes.toArray();
        float max = 0;
        for (float coordinate : shifted) {
            max = Math.max(max, coordinate);
        }
        for (int i = 0; i < shifted.length; i++) {
            shifted[i] += groups[i / 4] * (max + 1);
        }
        return shifted;
    }

    private static float min(Boxes boxes) {
        float min = 0;
        for (float coordinate : boxes.toArray()) {
            min = Math.min(min, coordinate);
        }
        return min;
    }

    private static boolean overlap(float[] boxes, float[] area, int i, int j, float threshold) {
        float width =
                Math.min(boxes[4 * i + 2], boxes[4 * j + 2]) - Math.max(boxes[4 * i], boxes[4 * j]);
        if (width <= 0) {
            return false;
        }
        float height =
                Math.min(boxes[4 * i + 3], boxes[4 * j + 3])
                        - Math.max(boxes[4 * i + 1], boxes[4 * j + 1]);
        if (height <= 0) {
            return false;
        }
        float intersection = width * height;
        return intersection > threshold * (area[i] + area[j] - intersection);
    }
}
