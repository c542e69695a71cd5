package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Boxes from which an anchor head selects its detections.
 *
 * @param boxes all boxes, one level after another, and one view after another
 * @param perLevel number of boxes per image of each level
 */
public record Candidates(ScoredBoxes boxes, List<Long> perLevel) {

    public Candidates {
        perLevel = ImmutableList.copyOf(perLevel);
    }

    static Candidates concat(List<Candidates> views) {
        if (views.size() == 1) {
            return views.get(0);
        }
        return new Candidates(
                ScoredBoxes.concat(views.stream().map(Candidates::boxes).toList()),
                views.stream().flatMap(view -> view.perLevel.stream()).toList());
    }

    Candidates mapBoxes(UnaryOperator<NDArray> change) {
        return new Candidates(boxes.mapBoxes(change), perLevel);
    }

    /** Returns a copy with score minus infinity where a side is at most {@code minSize} pixels. */
    Candidates suppressSmall(double minSize) {
        return new Candidates(boxes.suppressSmall(minSize), perLevel);
    }

    /** Returns the index of the level of each box, {@code [R]} int64. */
    NDArray levels() {
        long[] levels = new long[Math.toIntExact(boxes.size())];
        int at = 0;
        for (int l = 0; l < perLevel.size(); l++) {
            for (long i = 0; i < perLevel.get(l); i++) {
                levels[at++] = l;
            }
        }
        return Tensors.of(boxes.boxes().getManager(), levels, new Shape(levels.length));
    }
}
