package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * Cross entropy of the classes of boxes, as mmdetection's loss of the same name.
 *
 * @param useSigmoid whether each class is told from all else by itself; if not, one softmax tells
 *     all classes and background from one another
 * @param lossWeight weight of the loss among the others
 */
@Part("cross_entropy")
public record CrossEntropyLoss(
        @Default("false") boolean useSigmoid, @Default("1") double lossWeight)
        implements ClassificationLoss {

    private static final String SIGNATURE =
            "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor";

    private static final Script SOFTMAX =
            Script.compile(
                    SIGNATURE,
                    """
                    classes = torch.to(labels, 4)
                    each = torch.cross_entropy_loss(logits, classes, None, 0, -100, 0.)
                    return torch.sum(torch.mul(each, weights))
                    """);

    private static final Script SIGMOID =
            Script.compile(
                    SIGNATURE,
                    """
                    classes = torch.arange(torch.size(logits, 1), dtype=4, device=logits.device)
                    targets = torch.eq(torch.unsqueeze(labels, 1), classes)
                    targets = torch.type_as(targets, logits)
                    weight = torch.expand_as(torch.unsqueeze(weights, 1), logits)
                    return torch.binary_cross_entropy_with_logits(logits, targets, weight, None, 2)
                    """);

    /** Checks the weight. */
    public CrossEntropyLoss {
        new Checks().within("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    @Override
    public NDArray sum(NDArray logits, NDArray labels, NDArray weights) {
        return WeightedSum.run(useSigmoid ? SIGMOID : SOFTMAX, lossWeight, logits, labels, weights);
    }
}
