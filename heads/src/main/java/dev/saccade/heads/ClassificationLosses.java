package dev.saccade.heads;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Script;

/** Cross entropies of labels and masks; the sums are 0 for no boxes. */
public final class ClassificationLosses {

    private static final Script SOFTMAX =
            Script.compile(
                    "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                    """
                    classes = torch.to(labels, 4)
                    each = torch.cross_entropy_loss(logits, classes, None, 0, -100, 0.)
                    return torch.sum(torch.mul(each, weights))
                    """);

    private static final Script SIGMOID =
            Script.compile(
                    "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                    """
                    classes = torch.arange(torch.size(logits, 1), dtype=4, device=logits.device)
                    targets = torch.eq(torch.unsqueeze(labels, 1), classes)
                    targets = torch.type_as(targets, logits)
                    weight = torch.expand_as(torch.unsqueeze(weights, 1), logits)
                    return torch.binary_cross_entropy_with_logits(logits, targets, weight, None, 2)
                    """);

    private static final Script MASK =
            Script.compile(
                    "(logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor",
                    """
                    boxes = torch.arange(torch.size(logits, 0), dtype=4, device=logits.device)
                    index = annotate(List[Optional[Tensor]], [boxes, torch.to(labels, 4)])
                    chosen = torch.index(logits, index)
                    return torch.binary_cross_entropy_with_logits(chosen, targets, None, None, 1)
                    """);

    private ClassificationLosses() {}

    /**
     * Returns the sum of softmax cross entropies.
     *
     * @param logits {@code [N, C + 1]}, background last
     * @param labels {@code [N]} integers
     * @param weights {@code [N]}
     */
    public static NDArray softmax(NDArray logits, NDArray labels, NDArray weights) {
        return SOFTMAX.run(logits, labels, weights);
    }

    /**
     * Returns the sum of binary cross entropies over all classes.
     *
     * @param logits {@code [N, C]}
     * @param labels {@code [N]} integers; C is background, for which all classes should be low
     * @param weights {@code [N]}
     */
    public static NDArray sigmoid(NDArray logits, NDArray labels, NDArray weights) {
        return SIGMOID.run(logits, labels, weights);
    }

    /**
     * Returns the mean binary cross entropy of the masks of the labelled classes.
     *
     * @param logits {@code [N, C, H, W]}, N at least 1
     * @param targets {@code [N, H, W]} in [0, 1]
     * @param labels {@code [N]} integers
     */
    public static NDArray mask(NDArray logits, NDArray targets, NDArray labels) {
        return MASK.run(logits, targets, labels);
    }
}
