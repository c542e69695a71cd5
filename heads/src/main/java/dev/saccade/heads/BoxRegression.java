package dev.saccade.heads;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;

/**
 * Learning to move boxes.
 *
 * @param coder how a move is written
 * @param loss how far a move is from what it should be
 * @param decoded whether the loss looks at the boxes moved, or at the numbers of the move
 */
record BoxRegression(BoxCoder coder, BoxLoss loss, boolean decoded) {

    /**
     * Returns the weighted sum of the loss, a scalar that is 0 for no boxes.
     *
     * @param deltas {@code [P, 4]} predicted moves
     * @param boxes [P] boxes they move
     * @param targets [P] boxes to get to
     */
    NDArray sum(NDArray deltas, Boxes boxes, Boxes targets) {
        return Scope.array(
                () ->
                        decoded
                                ? loss.sum(
                                        coder.decode(on(deltas, boxes.toArray()), deltas),
                                        on(deltas, targets.toArray()))
                                : loss.sum(deltas, on(deltas, coder.encode(boxes, targets))));
    }

    private static NDArray on(NDArray like, float[] rows) {
        NDManager manager = like.getManager();
        return Tensors.of(manager, rows, new Shape(rows.length / 4, 4));
    }
}
