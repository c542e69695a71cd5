package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.structures.Losses;
import dev.saccade.heads.loss.BoxLoss;

/**
 * Bounding box regression.
 *
 * @param coder what encodes boxes as bbox deltas
 * @param loss how far predictions are from their targets
 * @param decoded whether the loss looks at decoded boxes, or at the deltas
 */
public record BoxRegression(BoxCoder coder, BoxLoss loss, boolean decoded) {

    /** Checks that the loss can look at what it is given. */
    public BoxRegression {
        check(loss, decoded);
    }

    /**
     * Refuses a loss that compares boxes, but would be given the numbers of a move; for the config
     * of a head.
     */
    public static void check(BoxLoss loss, boolean decoded) {
        Checks.require(
                decoded || !loss.comparesBoxes(),
                "loss_bbox",
                loss.type(),
                "reg_decoded_bbox: true with it, as it compares boxes, not their changes");
    }

    /**
     * Returns the weighted sum of the loss, a scalar that is 0 for no boxes.
     *
     * @param deltas {@code [P, 4]} predicted bbox deltas
     * @param boxes {@code [P, 4]} corners of the boxes they start from
     * @param targets {@code [P, 4]} corners of the boxes to be regressed to
     * @param weights {@code [P]} the weight of each
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
