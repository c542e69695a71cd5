package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.vision.Nms;
import dev.saccade.core.parts.Default;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.List;

/**
 * Selection of region proposals among the anchors, as since mmdetection 2.14. Earlier versions, and
 * the detectors of the papers, keep proposals without area, which padding causes.
 *
 * @param nmsPre keep the top-scoring anchors of each level before NMS
 * @param maxPerImg maximum number of proposals per image
 * @param iouThr boxes of one level that overlap a better one more are dropped
 * @param minBboxSize boxes not wider and higher than this many pixels are dropped; negative: none
 */
public record ProposalConfig(
        @Default("1000") int nmsPre,
        @Default("1000") int maxPerImg,
        @Default("0.7") double iouThr,
        @Default("0") double minBboxSize) {

    public ProposalConfig {
        new Checks()
                .inRange("nms_pre", nmsPre, 1, 100_000_000)
                .inRange("max_per_img", maxPerImg, 1, 100_000_000)
                .above("iou_thr", iouThr, 0, 1)
                .inRange("min_bbox_size", minBboxSize, -1, 1e6)
                .throwIfAny();
    }

    /** Returns the same settings for boxes of any size. */
    ProposalConfig ofAnySize() {
        return new ProposalConfig(nmsPre, maxPerImg, iouThr, -1);
    }

    /** Returns the maximum number of proposals per image of a pyramid. */
    public int most(int levels) {
        return (int) Math.min(maxPerImg, (long) levels * nmsPre);
    }

    /**
     * Returns the proposals of the images of a batch, best first, all with label 0.
     *
     * @param candidates of each level, one score per box; levels do not suppress one another
     */
    public Detections select(List<ScoredBoxes> candidates) {
        ScoredBoxes all = ScoredBoxes.concat(candidates).withoutSmall(minBboxSize);
        NDManager manager = all.boxes().getManager();
        NDList levels = new NDList();
        for (ScoredBoxes level : candidates) {
            levels.add(manager.full(new Shape(level.size()), levels.size(), DataType.INT64));
        }
        Nms nms = new Nms(iouThr, Nms.ANY_SCORE, maxPerImg);
        return Detections.of(all, nms.keep(all.boxes(), all.scores(), Tensors.concat(levels, 0)));
    }
}
