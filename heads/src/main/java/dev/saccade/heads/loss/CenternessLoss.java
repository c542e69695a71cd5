package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;

/** Binary cross entropy of centerness (FCOS, Tian et al. 2019). */
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

    public CenternessLoss {
        new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    /**
     * Returns the centerness {@code [P]} of priors {@code [P, 4]} in boxes {@code [P, 4]} with
     * positive area: 1 at the center, 0 at the border and outside.
     */
    public static NDArray targets(NDArray priors, NDArray boxes) {
        return TARGETS.run(priors, boxes);
    }

    /**
     * Returns the weighted sum times {@code loss_weight}, a scalar; all arrays are {@code [P]}
     * float32.
     */
    public NDArray sum(NDArray logits, NDArray targets, NDArray weights) {
        NDArray sum = Functional.binaryCrossEntropyWithLogits(logits, targets, weights);
        return Functional.mul(sum, (float) lossWeight);
    }
}
