package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;

/**
 * Binary cross entropy of how far in the middle of its box a prior is (FCOS, Tian et al. 2019).
 *
 * @param lossWeight weight of the loss among the others
 */
public record CenternessLoss(@Default("1") double lossWeight) {

    private static final Script TARGETS =
            Script.compile(
                    "(priors: Tensor, boxes: Tensor) -> Tensor",
                    """
                    p = torch.unbind(priors, 1)
                    b = torch.unbind(boxes, 1)
                    x = torch.div(torch.add(p[2], p[0]), 2)
                    y = torch.div(torch.add(p[3], p[1]), 2)
                    left = torch.sub(x, b[0])
                    top = torch.sub(y, b[1])
                    right = torch.sub(b[2], x)
                    bottom = torch.sub(b[3], y)
                    across = torch.div(torch.minimum(left, right), torch.maximum(left, right))
                    down = torch.div(torch.minimum(top, bottom), torch.maximum(top, bottom))
                    return torch.sqrt(torch.mul(torch.clamp(across, 0), torch.clamp(down, 0)))
                    """);

    /** Checks the weight. */
    public CenternessLoss {
        new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    /**
     * Returns how far in the middle of its box each prior is: 1 where their centers are the same, 0
     * at the border and beyond.
     *
     * @param priors {@code [P, 4]} corners
     * @param boxes {@code [P, 4]} corners of boxes that have an area
     * @return {@code [P]}
     */
    public static NDArray targets(NDArray priors, NDArray boxes) {
        return TARGETS.run(priors, boxes);
    }

    /**
     * Returns the weighted sum over the priors, times the weight of the loss; a scalar that is 0
     * for none.
     *
     * @param logits {@code [P]} float32
     * @param targets {@code [P]} float32 in [0, 1]
     * @param weights {@code [P]} float32; 0 for one that is not trained
     */
    public NDArray sum(NDArray logits, NDArray targets, NDArray weights) {
        NDArray sum = Functional.binaryCrossEntropyWithLogits(logits, targets, weights);
        return Functional.mul(sum, (float) lossWeight);
    }
}
