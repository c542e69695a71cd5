package dev.saccade.heads.classification;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;

/**
 * Softmax cross entropy with class distributions as targets, the mean over images; timm's {@code
 * SoftTargetCrossEntropy} and {@code LabelSmoothingCrossEntropy}.
 *
 * @param labelSmoothing fraction of each target that is spread over all classes
 */
@Component("soft_cross_entropy")
public record SoftCrossEntropy(@Default("0") double labelSmoothing) implements ImageLoss {

    public SoftCrossEntropy {
        new Checks().inRange("label_smoothing", labelSmoothing, 0, 1).throwIfAny();
    }

    @Override
    public NDArray loss(NDArray logits, NDArray targets) {
        NDArray smooth = ImageLoss.smooth(targets, labelSmoothing);
        double images = (double) logits.getShape().get(0);
        return Functional.div(smooth.mul(logits.logSoftmax(1)).sum(), -images);
    }

    @Override
    public ClassActivation activation() {
        return ClassActivation.SOFTMAX;
    }
}
