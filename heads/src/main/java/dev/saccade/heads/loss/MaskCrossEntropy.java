package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Script;

/**
 * Binary cross entropy of the cells of masks, as mmdetection's {@code mask_cross_entropy}.
 *
 * @param lossWeight weight of the loss among the others
 */
public record MaskCrossEntropy(double lossWeight) {

    private static final Script SCRIPT =
            Script.compile(
                    "(logits: Tensor, targets: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                    """
                    boxes = torch.arange(torch.size(logits, 0), dtype=4, device=logits.device)
                    index = annotate(List[Optional[Tensor]], [boxes, torch.to(labels, 4)])
                    chosen = torch.index(logits, index)
                    weight = torch.expand_as(torch.reshape(weights, [-1, 1, 1]), targets)
                    return torch.binary_cross_entropy_with_logits(chosen, targets, weight, None, 2)
                    """);

    /**
     * Returns the weighted sum over all cells of the masks of the labeled classes, times the weight
     * of the loss; a scalar that is 0 for no masks.
     *
     * @param logits {@code [N, C, H, W]}
     * @param targets {@code [N, H, W]} in [0, 1]
     * @param labels {@code [N]} integers
     * @param weights {@code [N]} weight of each mask; 0 for one that is not trained
     */
    public NDArray sum(NDArray logits, NDArray targets, NDArray labels, NDArray weights) {
        return WeightedSum.run(SCRIPT, lossWeight, logits, targets, labels, weights);
    }
}
