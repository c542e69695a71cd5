package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.structures.Losses;
import dev.saccade.heads.loss.BoxLoss;

/** Box regression loss of a head; compares decoded boxes if {@code decoded}, else deltas. */
public record BoxRegression(BoxCoder coder, BoxLoss loss, boolean decoded) {

    public BoxRegression {
        check(loss, decoded);
    }

    /** Rejects an IoU-type loss without {@code reg_decoded_bbox}. */
    public static void check(BoxLoss loss, boolean decoded) {
        Checks.require(
                decoded || !loss.comparesBoxes(),
                "loss_bbox",
                loss.type(),
                "reg_decoded_bbox: true, because this loss compares boxes instead of deltas");
    }

    /**
     * Returns the weighted loss sum, a scalar; 0 without boxes.
     *
     * @param deltas {@code [P, 4]} predicted bbox deltas
     * @param boxes {@code [P, 4]} corners of the priors
     * @param targets {@code [P, 4]} corners of the ground-truth boxes
     * @param weights {@code [P]}
     */
    public NDArray sum(NDArray deltas, NDArray boxes, NDArray targets, NDArray weights) {
        NDArray weight = weights.expandDims(1).broadcast(deltas.getShape());
        NDArray sum =
                decoded
                        ? loss.sum(coder.decode(boxes, deltas), targets, weight)
                        : loss.sum(deltas, coder.encode(boxes, targets), weight);
        return Losses.requireScalar("loss_bbox " + loss.type(), sum);
    }
}
