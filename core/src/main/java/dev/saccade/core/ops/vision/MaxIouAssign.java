package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Assigns an object to each box by IoU, like mmdetection's {@code MaxIoUAssigner}.
 *
 * <p>Does not create the matrix of all IoUs. On ties, the first object wins. Boxes with NaN
 * coordinates overlap nothing.
 *
 * @param posIouThr minimum IoU of positive boxes
 * @param negIouThr IoU below which boxes are negative; boxes in between are ignored
 * @param minPosIou minimum IoU of low-quality matches
 * @param matchLowQuality whether every object also gets its best boxes; later objects override
 *     earlier ones
 * @param gtMaxAssignAll whether all boxes that tie for the best are assigned, or only the first
 */
public record MaxIouAssign(
        double posIouThr,
        double negIouThr,
        double minPosIou,
        boolean matchLowQuality,
        boolean gtMaxAssignAll) {

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(boxes: Tensor, objects: Tensor, skip: Tensor) -> Tuple[Tensor, Tensor]",
                    "return ops.saccade.max_iou_assign(boxes, objects, skip, [{pos}, {neg}, {min_pos}],"
                            + " {low}, {all})");

    private static final ScriptTemplate PORTABLE =
            ScriptTemplate.read(MaxIouAssign.class, "portable");

    /**
     * Assigns objects.
     *
     * @param boxes {@code [N, 4]} float32 corners
     * @param objects {@code [K, 4]} float32 corners; at least one
     * @param skip {@code [N]} boolean: boxes to exclude, or {@code [0]} for none
     * @return {@code [N]} int64: -1 ignored, 0 background, k + 1 object k; and {@code [N]} float32:
     *     maximum IoU, -1 for excluded boxes
     */
    public NDList assign(NDArray boxes, NDArray objects, NDArray skip) {
        Map<String, Object> constants =
                Map.of(
                        "pos", (double) (float) posIouThr,
                        "neg", (double) (float) negIouThr,
                        "min_pos", (double) (float) minPosIou,
                        "low", matchLowQuality,
                        "all", gtMaxAssignAll);
        ScriptTemplate form = Kernels.isFusedFor(boxes) ? FUSED : PORTABLE;
        return form.with(constants).runAll(boxes, objects, skip);
    }
}
