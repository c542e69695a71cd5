package dev.saccade.eval.coco;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * COCO's average precision of boxes or masks, from 0 to 1; -1 if undefined.
 *
 * @param ar average recall at the largest limit on detections
 */
public record CocoAverages(
        double ap,
        double ap50,
        double ap75,
        double apSmall,
        double apMedium,
        double apLarge,
        double ar,
        List<ClassMetrics> perClass) {

    public CocoAverages {
        perClass = ImmutableList.copyOf(perClass);
    }
}
