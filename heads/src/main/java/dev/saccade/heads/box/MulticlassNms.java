package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

/**
 * Selects objects among the scored boxes of a detector (mmdetection's {@code multiclass_nms}); a
 * part that YAML names by {@code type}, such as {@code nms: {type: soft_nms, sigma: 0.5}}.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}. Boxes that are not there score minus infinity. Arrays are
 * where the features are; on a GPU one that reads values waits for the network.
 */
public interface MulticlassNms extends PartConfig {

    /**
     * What stays.
     *
     * @param detections the objects, with the scores that they have now
     * @param keep {@code [B, M]} int64 positions {@code row * C + class} of each among the scores;
     *     0 behind the last of an image
     */
    record Kept(Detections detections, NDArray keep) {}

    /** Selects among the boxes of every image of a batch. */
    Kept apply(ScoredBoxes scored);

    /** Returns how many objects of an image are selected at most. */
    int maxPerImg();
}
