package dev.saccade.heads.box;

import com.google.common.primitives.Floats;

import dev.saccade.core.structures.Boxes;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What a head says of the boxes of an image before it selects among them.
 *
 * @param boxes [R] boxes for all classes, or [R * C] boxes for each, class fastest
 * @param scores {@code [R * C]} probability of each class, class fastest
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record ScoredBoxes(Boxes boxes, float[] scores) {

    /** Returns the boxes of all lists, one list after the other. */
    public static ScoredBoxes concat(List<ScoredBoxes> lists) {
        return new ScoredBoxes(
                Boxes.concat(lists.stream().map(ScoredBoxes::boxes).toList()),
                Floats.concat(lists.stream().map(ScoredBoxes::scores).toArray(float[][]::new)));
    }

    /** Returns the same scores of other boxes, such as those in other coordinates. */
    public ScoredBoxes mapBoxes(UnaryOperator<Boxes> change) {
        return new ScoredBoxes(change.apply(boxes), scores);
    }
}
