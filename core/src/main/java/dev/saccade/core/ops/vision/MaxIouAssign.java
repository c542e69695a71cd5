package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Which object each of many boxes, such as anchors, should learn, by IoU.
 *
 * <p>A box is held against all objects; no table of boxes by objects is made. Of objects that
 * overlap a box alike the first counts. What is no number overlaps nothing.
 *
 * @param posIouThr from this IoU on a box is positive
 * @param negIouThr below this IoU a box is background; in between it is not trained
 * @param minPosIou least IoU of a low-quality match
 * @param matchLowQuality whether every object takes its best boxes, the later objects last
 * @param gtMaxAssignAll whether all boxes that tie for the best are taken, or the first alone
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
     * Assigns.
     *
     * @param boxes {@code [N, 4]} float32 corners
     * @param objects {@code [K, 4]} float32 corners; at least one
     * @param skip {@code [N]} boolean: boxes that are not looked at, or {@code [0]} for none
     * @return {@code [N]} int64: -1 not trained, 0 background, k + 1 object k; and {@code [N]}
     *     float32: the greatest IoU, -1 for boxes that are not looked at
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
