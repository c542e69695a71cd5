package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;

/** Binary cross entropy of mask pixels, like mmdetection's {@code mask_cross_entropy}. */
public record MaskCrossEntropy(double lossWeight) {

    /** Selects the channel of each map's label: {@code [N, C, H, W]} to {@code [N, H, W]}. */
    public static NDArray selectLabels(NDArray maps, NDArray labels) {
        Shape shape = maps.getShape();
        NDArray index =
                Functional.to(labels, DataType.INT64)
                        .reshape(-1, 1, 1, 1)
                        .broadcast(new Shape(shape.get(0), 1, shape.get(2), shape.get(3)));
        return Functional.gather(maps, 1, index).squeeze(1);
    }

    /**
     * Returns the weighted sum over the mask pixels of the labeled classes, times the loss weight:
     * a scalar, 0 without masks.
     *
     * @param logits {@code [N, C, H, W]}
     * @param targets {@code [N, H, W]} in [0, 1]
     * @param labels {@code [N]} integers
     * @param weights {@code [N]} 0 for masks excluded from training
     */
    public NDArray sum(NDArray logits, NDArray targets, NDArray labels, NDArray weights) {
        NDArray sum =
                Functional.binaryCrossEntropyWithLogits(
                        selectLabels(logits, labels),
                        targets,
                        weights.reshape(-1, 1, 1).broadcast(targets.getShape()));
        return Functional.mul(sum, (float) lossWeight);
    }
}
