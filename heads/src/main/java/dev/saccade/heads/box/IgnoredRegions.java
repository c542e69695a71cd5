package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Finds the priors to exclude from training because they are in ignored regions.
 *
 * @param iofThr minimum intersection over foreground (IoF), exclusive; 0 or less to disable
 * @param ofPriors whether the foreground is the prior, instead of the region
 */
record IgnoredRegions(double iofThr, boolean ofPriors) {

    /** Loops over the regions, so memory grows with the number of boxes only. */
    private static final ScriptTemplate CONTAINED =
            ScriptTemplate.of(
                    "(boxes: Tensor, ignored: Tensor) -> Tensor",
                    """
                    b = torch.unbind(torch.contiguous(torch.t(boxes)), 0)
                    area = torch.mul(torch.sub(b[2], b[0]), torch.sub(b[3], b[1]))
                    inside = torch.zeros_like(area, dtype=11)
                    r = 0
                    while r < torch.size(ignored, 0):
                      i = torch.unbind(torch.select(ignored, 0, r), 0)
                      w = torch.sub(torch.minimum(b[2], i[2]), torch.maximum(b[0], i[0]))
                      h = torch.sub(torch.minimum(b[3], i[3]), torch.maximum(b[1], i[1]))
                      shared = torch.mul(torch.clamp(w, 0), torch.clamp(h, 0))
                      if {of_priors}:
                        whole = area
                      else:
                        whole = torch.mul(torch.sub(i[2], i[0]), torch.sub(i[3], i[1]))
                      share = torch.div(shared, torch.clamp(whole, 1e-06))
                      inside = torch.logical_or(inside, torch.gt(share, {threshold}))
                      r = r + 1
                    return inside
                    """);

    /**
     * Returns whether each of {@code [N, 4]} boxes lies in one of {@code [I, 4]} regions, {@code
     * [N]} boolean; {@code [0]} if disabled or without regions.
     */
    NDArray contain(NDArray boxes, NDArray ignored) {
        return iofThr <= 0 || ignored.isEmpty()
                ? boxes.getManager().create(new Shape(0), DataType.BOOLEAN)
                : CONTAINED
                        .with(Map.of("of_priors", ofPriors, "threshold", (double) (float) iofThr))
                        .run(boxes, ignored);
    }
}
