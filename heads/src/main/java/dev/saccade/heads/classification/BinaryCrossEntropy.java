package dev.saccade.heads.classification;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.Checks;
import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;

import java.util.Optional;

/**
 * Sigmoid cross entropy per class (Wightman et al. 2021); timm's {@code BinaryCrossEntropy}.
 *
 * @param labelSmoothing fraction of each target that is spread over all classes
 * @param targetThreshold if set, targets above it become 1 and others 0
 * @param sumClasses whether to sum over classes; otherwise the mean is over images and classes
 */
@Component("binary_cross_entropy")
public record BinaryCrossEntropy(
        @Default("0") double labelSmoothing,
        Optional<Double> targetThreshold,
        @Default("false") boolean sumClasses)
        implements ImageLoss {

    public BinaryCrossEntropy {
        new Checks()
                .inRange("label_smoothing", labelSmoothing, 0, 1)
                .inRange("target_threshold", targetThreshold, 0, 1)
                .throwIfAny();
    }

    @Override
    public NDArray loss(NDArray logits, NDArray targets) {
        NDArray smooth = ImageLoss.smooth(targets, labelSmoothing);
        NDArray hard =
                targetThreshold
                        .map(least -> Functional.to(Functional.gt(smooth, least), DataType.FLOAT32))
                        .orElse(smooth);
        long divisor = sumClasses ? logits.getShape().get(0) : logits.size();
        return Functional.div(
                Functional.binaryCrossEntropyWithLogits(logits, hard, hard.onesLike()),
                (double) divisor);
    }

    @Override
    public ClassActivation activation() {
        return ClassActivation.SIGMOID;
    }
}
