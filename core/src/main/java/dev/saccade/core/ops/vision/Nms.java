package dev.saccade.core.ops.vision;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Greedy non-maximum suppression within groups, such as classes or levels, for all images of a
 * batch.
 *
 * <p>Follows mmcv's {@code batched_nms}: shifts the boxes of group {@code g} by {@code g * (m + 1)}
 * in float32, where m is the largest coordinate, and removes a box if its IoU with a better kept
 * box is strictly greater than the threshold. The shift loses precision and is kept because it
 * decides borderline cases. The fused operator keeps exactly the same boxes.
 *
 * @param iouThreshold boxes with a greater IoU are removed
 * @param scoreThreshold boxes need a strictly greater score; NaN is never greater
 * @param max maximum number of boxes kept per image
 */
public record Nms(double iouThreshold, double scoreThreshold, int max) {

    /** A threshold that every finite score exceeds. */
    public static final double ANY_SCORE = -Float.MAX_VALUE;

    /** The script sorts boxes, low scores last; with dynamic shapes, the operator sorts instead. */
    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(boxes: Tensor, scores: Tensor, groups: Tensor, most: Tensor)"
                            + " -> Tuple[Tensor, Tensor]",
                    """
                    order = torch.zeros([0], dtype=4, device=boxes.device)
                    if {sorted}:
                      flat = torch.flatten(scores, 1)
                      flat = torch.where(torch.gt(flat, {score}), flat, torch.log(torch.zeros_like(flat)))
                      _0, order = torch.sort(flat, stable=True, dim=1, descending=True)
                    return ops.saccade.nms(boxes, scores, groups, order, {iou}, {score}, torch.size(most, 0))
                    """);

    /**
     * Kept boxes.
     *
     * @param positions {@code [B, M]} int64 positions {@code row * C + class} by descending score
     *     (stable), padded with 0. M is the maximum per image; with {@link DynamicShapes}, the
     *     largest number actually kept
     * @param counts {@code [B]} int64: number of kept boxes per image
     */
    public record Kept(NDArray positions, NDArray counts) {

        /** Transfers positions (best first, at most {@code most}) to the device of {@code like}. */
        public static Kept of(NDArray like, int[][] kept, int most) {
            int width = most;
            if (DynamicShapes.areAllowedFor(like)) {
                width = Arrays.stream(kept).mapToInt(each -> each.length).max().orElse(0);
            }
            long[] positions = new long[kept.length * width];
            long[] counts = new long[kept.length];
            for (int n = 0; n < kept.length; n++) {
                counts[n] = kept[n].length;
                for (int k = 0; k < kept[n].length; k++) {
                    positions[n * width + k] = kept[n][k];
                }
            }
            NDManager manager = like.getManager();
            return new Kept(
                    Tensors.of(manager, positions, new Shape(kept.length, width)),
                    Tensors.of(manager, counts, new Shape(kept.length)));
        }
    }

    /**
     * Applies NMS.
     *
     * @param boxes {@code [B, R, 4]} float32 corners shared by all classes, or {@code [B, R * C,
     *     4]} per class
     * @param scores {@code [B, R, C]} float32
     * @param groups {@code [R]} int64 from 0: the boxes of a row are in the groups {@code group * C
     *     + class}; boxes of different groups do not suppress each other
     */
    public Kept keep(NDArray boxes, NDArray scores, NDArray groups) {
        Shape shape = scores.getShape();
        long pairs = shape.get(1) * shape.get(2);
        long rows = boxes.getShape().get(1);
        checkArgument(
                rows == shape.get(1) || rows == pairs,
                "got %s boxes for scores of shape %s",
                rows,
                shape);
        checkArgument(
                groups.size() == shape.get(1),
                "got %s groups for scores of shape %s",
                groups.size(),
                shape);
        int most = (int) Math.min(max, pairs);
        return Kernels.isFusedFor(boxes) || Tracer.isRecording()
                ? fused(boxes, scores, groups, most)
                : portable(boxes, scores, groups, most);
    }

    private Kept fused(NDArray boxes, NDArray scores, NDArray groups, int most) {
        NDManager manager = boxes.getManager();
        Map<String, ?> constants =
                Map.of(
                        "sorted",
                        !DynamicShapes.areAllowedFor(boxes),
                        "iou",
                        iouThreshold,
                        "score",
                        (double) (float) scoreThreshold);
        NDArray limit = manager.create(new Shape(most, 0));
        NDList kept = FUSED.with(constants).runAll(boxes, scores, groups, limit);
        return new Kept(kept.get(0), kept.get(1));
    }

    private Kept portable(NDArray boxes, NDArray scores, NDArray groups, int most) {
        int images = (int) scores.getShape().get(0);
        int classes = (int) scores.getShape().get(2);
        float[] corners = Tensors.readFloats(boxes);
        float[] values = Tensors.readFloats(scores);
        long[] ofRow = Tensors.readLongs(groups);
        int pairs = ofRow.length * classes;
        boolean perClass = boxes.getShape().get(1) == pairs;
        int[][] kept = new int[images][];
        for (int n = 0; n < images; n++) {
            int first = n * pairs;
            int[] candidates =
                    IntStream.range(0, pairs)
                            .filter(i -> values[first + i] > (float) scoreThreshold)
                            .toArray();
            int start = n * (perClass ? pairs : ofRow.length);
            Candidates of = new Candidates(candidates.length);
            for (int k = 0; k < candidates.length; k++) {
                int i = candidates[k];
                int box = start + (perClass ? i : i / classes);
                System.arraycopy(corners, 4 * box, of.boxes, 4 * k, 4);
                of.scores[k] = values[first + i];
                of.groups[k] = Math.toIntExact(ofRow[i / classes] * classes + i % classes);
            }
            kept[n] =
                    Arrays.stream(of.keep((float) iouThreshold))
                            .limit(most)
                            .map(k -> candidates[k])
                            .toArray();
        }
        return Kept.of(scores, kept, most);
    }

    /** Boxes of an image in Java memory. */
    private static final class Candidates {

        private final float[] boxes;
        private final float[] scores;
        private final int[] groups;

        Candidates(int count) {
            boxes = new float[4 * count];
            scores = new float[count];
            groups = new int[count];
        }

        /** Returns the positions of the kept boxes, best first. */
        int[] keep(float threshold) {
            boolean[] removed = new boolean[scores.length];
            int[] order = descending(scores);
            boolean mayTouch = shift();
            // If no coordinate is far below 0, shifted groups cannot overlap.
            if (mayTouch) {
                suppress(order, threshold, removed);
            } else {
                for (int[] members : byGroup(order)) {
                    suppress(members, threshold, removed);
                }
            }
            return Arrays.stream(order).filter(i -> !removed[i]).toArray();
        }

        /** Shifts the groups; returns whether they may still overlap. */
        private boolean shift() {
            float max = 0;
            float min = 0;
            for (float coordinate : boxes) {
                max = Math.max(max, coordinate);
                min = Math.min(min, coordinate);
            }
            for (int i = 0; i < boxes.length; i++) {
                boxes[i] += groups[i / 4] * (max + 1);
            }
            return !(min > -1);
        }

        /** Returns the members of each group, in the given order. */
        private int[][] byGroup(int[] order) {
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

        /** Marks members that overlap a better kept member; members are in order, best first. */
        private void suppress(int[] members, float threshold, boolean[] removed) {
            int n = members.length;
            float[] sorted = new float[4 * n];
            float[] area = new float[n];
            for (int a = 0; a < n; a++) {
                System.arraycopy(boxes, 4 * members[a], sorted, 4 * a, 4);
                float width = sorted[4 * a + 2] - sorted[4 * a];
                area[a] = width * (sorted[4 * a + 3] - sorted[4 * a + 1]);
            }
            boolean[] suppressed = new boolean[n];
            for (int a = 0; a < n; a++) {
                removed[members[a]] = suppressed[a];
                for (int b = a + 1; b < n && !suppressed[a]; b++) {
                    suppressed[b] = suppressed[b] || overlap(sorted, area, a, b, threshold);
                }
            }
        }
    }

    /** Returns the positions of {@code values} in descending order (stable). */
    private static int[] descending(float[] values) {
        long[] keys = new long[values.length];
        for (int i = 0; i < values.length; i++) {
            int bits = Float.floatToIntBits(values[i]);
            int ascending = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
            keys[i] = ((long) ~ascending << 32) | i;
        }
        Arrays.sort(keys);
        return Arrays.stream(keys).mapToInt(key -> (int) key).toArray();
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
