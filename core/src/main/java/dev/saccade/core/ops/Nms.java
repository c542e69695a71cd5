package dev.saccade.core.ops;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Libtorch;
import dev.saccade.core.structures.Boxes;

import java.util.Arrays;
import java.util.Map;

/**
 * Greedy non-maximum suppression within groups, such as classes or levels.
 *
 * <p>Follows mmcv's {@code batched_nms}: the boxes of group {@code g} are shifted by {@code g *
 * (max + 1)} in float32, and a box goes if its IoU with a better one that stays is strictly greater
 * than the threshold. The shift makes coordinates coarse; it is kept because it decides close
 * cases. The fused operator holds a box against many at once, and keeps exactly the same.
 */
public final class Nms {

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(boxes: Tensor, scores: Tensor, groups: Tensor) -> Tensor",
                    "return ops.saccade.nms(boxes, scores, groups, {iou_threshold})");

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
        return n > 0 && Kernels.areOn()
                ? fused(boxes, scores, groups, iouThreshold)
                : portable(boxes, scores, groups, iouThreshold);
    }

    static int[] fused(Boxes boxes, float[] scores, int[] groups, float iouThreshold) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            long[] kept =
                    FUSED.with(Map.of("iou_threshold", (double) iouThreshold))
                            .run(
                                    manager.create(boxes.toArray(), new Shape(boxes.size(), 4)),
                                    manager.create(scores),
                                    manager.create(groups))
                            .toLongArray();
            return Arrays.stream(kept).mapToInt(Math::toIntExact).toArray();
        }
    }

    static int[] portable(Boxes boxes, float[] scores, int[] groups, float iouThreshold) {
        int n = boxes.size();
        float[] shifted = shift(boxes, groups);
        int[] order = descending(scores);
        boolean[] gone = new boolean[n];
        // Where no coordinate is far below 0, shifted groups cannot touch.
        if (min(boxes) > -1) {
            for (int[] members : byGroup(order, groups)) {
                suppress(shifted, members, iouThreshold, gone);
            }
        } else {
            suppress(shifted, order, iouThreshold, gone);
        }
        return Arrays.stream(order).filter(i -> !gone[i]).toArray();
    }

    /** Returns the members of each group, in the order given. */
    private static int[][] byGroup(int[] order, int[] groups) {
        int[] sizes = new int[Arrays.stream(groups).max().orElse(-1) + 1];
        for (int group : groups) {
            sizes[group]++;
        }
        int[][] members = Arrays.stream(sizes).mapToObj(int[]::new).toArray(int[][]::new);
        for (int k = order.length - 1; k >= 0; k--) {
            int group = groups[order[k]];
            members[group][--sizes[group]] = order[k];
        }
        return members;
    }

    /** Marks the members that overlap a better one which stays; the best comes first. */
    private static void suppress(float[] boxes, int[] members, float threshold, boolean[] gone) {
        int n = members.length;
        float[] sorted = new float[4 * n];
        float[] area = new float[n];
        for (int a = 0; a < n; a++) {
            System.arraycopy(boxes, 4 * members[a], sorted, 4 * a, 4);
            area[a] = (sorted[4 * a + 2] - sorted[4 * a]) * (sorted[4 * a + 3] - sorted[4 * a + 1]);
        }
        boolean[] suppressed = new boolean[n];
        for (int a = 0; a < n; a++) {
            gone[members[a]] = suppressed[a];
            for (int b = a + 1; b < n && !suppressed[a]; b++) {
                suppressed[b] = suppressed[b] || overlap(sorted, area, a, b, threshold);
            }
        }
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
