package dev.saccade.heads;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;

/**
 * How far boxes are from where they should be.
 *
 * @param type which loss
 * @param beta from this difference on a smooth L1 loss is linear
 * @param lossWeight weight of the loss among the others
 */
public record BoxLoss(Type type, double beta, double lossWeight) {

    /** The losses of {@link BoxLosses}. */
    public enum Type {
        /** Absolute differences. */
        L1,
        /** Absolute differences, squared ones below {@code beta}. */
        SMOOTH_L1,
        /** The logarithm of the overlap. */
        IOU,
        /** Generalised overlap (Rezatofighi et al. 2019). */
        GIOU,
        /** Overlap and distance (Zheng et al. 2020). */
        DIOU,
        /** Overlap, distance and aspect ratio (Zheng et al. 2020). */
        CIOU;

        boolean comparesBoxes() {
            return compareTo(IOU) >= 0;
        }
    }

    /** The loss of Mask R-CNN in mmdetection: absolute differences. */
    public BoxLoss() {
        this(Type.L1, 1, 1);
    }

    /** Checks the values. */
    public BoxLoss {
        new Checks()
                .above("beta", beta, 0, 1000)
                .within("loss_weight", lossWeight, 0, 1e6)
                .throwIfAny();
    }

    /**
     * Returns the weighted sum, a scalar that is 0 for no boxes.
     *
     * @param pred {@code [P, 4]}
     * @param target {@code [P, 4]}
     */
    public NDArray sum(NDArray pred, NDArray target) {
        return Scope.array(
                () -> {
                    NDManager manager = pred.getManager();
                    long boxes = pred.getShape().get(0);
                    NDArray weight =
                            manager.ones(type.comparesBoxes() ? new Shape(boxes) : pred.getShape());
                    NDArray sum =
                            switch (type) {
                                case L1 -> BoxLosses.l1(pred, target, weight);
                                case SMOOTH_L1 ->
                                        BoxLosses.smoothL1(pred, target, weight, (float) beta);
                                case IOU -> BoxLosses.iou(pred, target, weight);
                                case GIOU -> BoxLosses.giou(pred, target, weight);
                                case DIOU -> BoxLosses.diou(pred, target, weight);
                                case CIOU -> BoxLosses.ciou(pred, target, weight);
                            };
                    return sum.mul(Tensors.of(manager, (float) lossWeight));
                });
    }
}
