package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;

/**
 * Binary cross entropy of the cells of masks, as mmdetection's {@code mask_cross_entropy}.
 *
 * @param lossWeight weight of the loss among the others
 */
public record MaskCrossEntropy(double lossWeight) {

    /**
     * Returns the map of the label of each object.
     *
     * @param maps {@code [N, C, H, W]}
     * @param labels {@code [N]} integers
     * @return {@code [N, H, W]}
     */
    public static NDArray ofLabels(NDArray maps, NDArray labels) {
        Shape shape = maps.getShape();
        NDArray index =
                Functional.to(labels, DataType.INT64)
                        .reshape(-1, 1, 1, 1)
                        .broadcast(new Shape(shape.get(0), 1, shape.get(2), shape.get(3)));
        return Functional.gather(maps, 1, index).squeeze(1);
    }

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
        NDArray sum =
                Functional.binaryCrossEntropyWithLogits(
                        ofLabels(logits, labels),
                        targets,
                        weights.reshape(-1, 1, 1).broadcast(targets.getShape()));
        return Functional.mul(sum, (float) lossWeight);
    }
}
