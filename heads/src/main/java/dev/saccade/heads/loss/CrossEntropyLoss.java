package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;

/**
 * Cross entropy of classes, like mmdetection's: per-class sigmoids, or one softmax with background.
 */
@Component("cross_entropy")
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

    public CrossEntropyLoss {
        new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    @Override
    public NDArray sum(NDArray logits, NDArray labels, NDArray weights) {
        NDArray sum =
                useSigmoid
                        ? sigmoid(logits, labels, weights)
                        : SOFTMAX.run(logits, labels, weights);
        return Functional.mul(sum, (float) lossWeight);
    }

    private static NDArray sigmoid(NDArray logits, NDArray labels, NDArray weights) {
        int numClasses = (int) logits.getShape().get(1);
        NDArray classes = labels.getManager().arange(0, numClasses, 1, labels.getDataType());
        NDArray targets = Functional.typeAs(labels.expandDims(1).eq(classes), logits);
        NDArray weight = weights.expandDims(1).broadcast(logits.getShape());
        return Functional.binaryCrossEntropyWithLogits(logits, targets, weight);
    }
}
