package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.vision.Nms;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * Drops boxes that overlap a better one of their class, and takes the best of all classes; follows
 * mmdetection's {@code multiclass_nms}.
 *
 * @param scoreThr scores must be strictly greater
 * @param iouThr boxes of one class that overlap more than this go
 * @param maxPerImg at most so many objects an image
 */
@Part("nms")
public record HardNms(
        @Default("0.05") double scoreThr,
        @Default("0.5") double iouThr,
        @Default("100") int maxPerImg)
        implements MulticlassNms {

    /** Checks the values. */
    public HardNms {
        new Checks()
                .below("score_thr", scoreThr, 0, 1)
                .above("iou_thr", iouThr, 0, 1)
                .inRange("max_per_img", maxPerImg, 1, 100_000_000)
                .throwIfAny();
    }

    @Override
    public Kept apply(ScoredBoxes scored) {
        NDArray alike =
                scored.scores().getManager().zeros(new Shape(scored.size()), DataType.INT64);
        Nms.Kept kept =
                new Nms(iouThr, scoreThr, maxPerImg).keep(scored.boxes(), scored.scores(), alike);
        return new Kept(Detections.of(scored, kept), kept.positions());
    }
}
