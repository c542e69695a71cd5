package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Nms;
import dev.saccade.core.parts.Default;

/**
 * Turns scored boxes into objects: every class on its own, the best of all classes (mmdetection's
 * {@code multiclass_nms}).
 *
 * @param scoreThr scores must be strictly greater
 * @param iouThr boxes of one class that overlap more than this go
 * @param maxPerImg at most so many objects an image
 */
public record MulticlassNms(
        @Default("0.05") double scoreThr,
        @Default("0.5") double iouThr,
        @Default("100") int maxPerImg) {

    /** Checks the values. */
    public MulticlassNms {
        new Checks()
                .below("score_thr", scoreThr, 0, 1)
                .above("iou_thr", iouThr, 0, 1)
                .within("max_per_img", maxPerImg, 1, 100_000_000)
                .throwIfAny();
    }

    /**
     * What stays.
     *
     * @param detections the objects
     * @param keep {@code [B, M]} int64 positions {@code row * C + class} of each among the scores;
     *     0 behind the last of an image
     */
    public record Kept(Detections detections, NDArray keep) {}

    /** Returns the same settings, but that scores only need to be positive. */
    public MulticlassNms ofAnyScore() {
        return new MulticlassNms(0, iouThr, maxPerImg);
    }

    /** Selects among the boxes of every image of a batch. */
    public Kept apply(ScoredBoxes scored) {
        NDArray alike =
                scored.scores().getManager().zeros(new Shape(scored.size()), DataType.INT64);
        Nms.Kept kept =
                new Nms(iouThr, scoreThr, maxPerImg).keep(scored.boxes(), scored.scores(), alike);
        return new Kept(Detections.of(scored, kept), kept.positions());
    }
}
