package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Which priors lie in regions whose content nobody labeled, so that they are not trained.
 *
 * @param iofThr those that share more than this with a region; not positive: none
 * @param ofBox whether that is the share of the prior that lies in the region, or the share of the
 *     region that lies in the prior
 */
record IgnoredRegions(double iofThr, boolean ofBox) {

    /** Region after region, so that memory is of the boxes alone. */
    private static final ScriptTemplate IN_IGNORED =
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
                      if {of_box}:
                        whole = area
                      else:
                        whole = torch.mul(torch.sub(i[2], i[0]), torch.sub(i[3], i[1]))
                      share = torch.div(shared, torch.clamp(whole, 1e-06))
                      inside = torch.logical_or(inside, torch.gt(share, {threshold}))
                      r = r + 1
                    return inside
                    """);

    /**
     * Returns whether each prior lies in a region.
     *
     * @param boxes {@code [N, 4]} corners
     * @param ignored {@code [I, 4]} corners of the regions
     * @return {@code [N]} boolean, or {@code [0]} if none does whatever they are
     */
    NDArray hold(NDArray boxes, NDArray ignored) {
        return iofThr <= 0 || ignored.isEmpty()
                ? boxes.getManager().create(new Shape(0), DataType.BOOLEAN)
                : IN_IGNORED
                        .with(Map.of("of_box", ofBox, "threshold", (double) (float) iofThr))
                        .run(boxes, ignored);
    }
}
