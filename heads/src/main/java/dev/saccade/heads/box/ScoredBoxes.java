package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.Tensors;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What a head says of the boxes of a batch before it selects among them.
 *
 * @param boxes {@code [B, R, 4]} float32 corners of boxes for all classes, or {@code [B, R * C, 4]}
 *     of boxes for each, class fastest
 * @param scores {@code [B, R, C]} float32 probability of each class
 */
public record ScoredBoxes(NDArray boxes, NDArray scores) {

    /** Returns the boxes of all lists, one list after the other, image by image. */
    public static ScoredBoxes concat(List<ScoredBoxes> lists) {
        NDList boxes = new NDList();
        NDList scores = new NDList();
        for (ScoredBoxes list : lists) {
            boxes.add(list.boxes);
            scores.add(list.scores);
        }
        return new ScoredBoxes(Tensors.concat(boxes, 1), Tensors.concat(scores, 1));
    }

    /** Returns the same scores of other boxes, such as those in other coordinates. */
    public ScoredBoxes mapBoxes(UnaryOperator<NDArray> change) {
        return new ScoredBoxes(change.apply(boxes), scores);
    }

    /** Returns R. */
    public long size() {
        return scores.getShape().get(1);
    }
}
