package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.vision.Nms;

/**
 * NMS per class, like mmdetection's {@code multiclass_nms}; scores must be greater than {@code
 * score_thr}.
 */
@Component("nms")
public record HardNms(
        @Default("0.05") double scoreThr,
        @Default("0.5") double iouThreshold,
        @Default("100") int maxPerImg)
        implements MulticlassNms {

    public HardNms {
        new Checks()
                .below("score_thr", scoreThr, 0, 1)
                .above("iou_threshold", iouThreshold, 0, 1)
                .inRange("max_per_img", maxPerImg, 1, 100_000_000)
                .throwIfAny();
    }

    @Override
    public Kept apply(ScoredBoxes scored) {
        NDArray oneGroup =
                scored.scores().getManager().zeros(new Shape(scored.size()), DataType.INT64);
        Nms.Kept kept =
                new Nms(iouThreshold, scoreThr, maxPerImg)
                        .keep(scored.boxes(), scored.scores(), oneGroup);
        return new Kept(Detections.of(scored, kept), kept.positions());
    }
}
