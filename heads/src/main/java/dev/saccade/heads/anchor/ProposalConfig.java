package dev.saccade.heads.anchor;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.vision.Nms;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ScoredBoxes;

/**
 * Selects region proposals like mmdetection 2.14 and later. Earlier versions, and the papers, keep
 * proposals with zero area.
 *
 * @param nmsPre number of top-scoring anchors per level to keep before NMS
 * @param minBboxSize drops boxes with a side of at most this many pixels; negative: drops none
 */
public record ProposalConfig(
        @Default("1000") int nmsPre,
        @Default("1000") int maxPerImg,
        @Default("0.7") double iouThreshold,
        @Default("0") double minBboxSize) {

    public ProposalConfig {
        new Checks()
                .inRange("nms_pre", nmsPre, 1, 100_000_000)
                .inRange("max_per_img", maxPerImg, 1, 100_000_000)
                .above("iou_threshold", iouThreshold, 0, 1)
                .inRange("min_bbox_size", minBboxSize, -1, 1e6)
                .throwIfAny();
    }

    ProposalConfig withoutMinSize() {
        return new ProposalConfig(nmsPre, maxPerImg, iouThreshold, -1);
    }

    /** Returns the maximum number of proposals per image, given the number of levels. */
    public int most(int levels) {
        return (int) Math.min(maxPerImg, (long) levels * nmsPre);
    }

    /** Returns the proposals of each image, best first, with label 0. NMS runs per level. */
    public Detections select(Candidates candidates) {
        ScoredBoxes all = candidates.boxes().suppressSmall(minBboxSize);
        Nms nms = new Nms(iouThreshold, Nms.ANY_SCORE, maxPerImg);
        return Detections.of(all, nms.keep(all.boxes(), all.scores(), candidates.levels()));
    }
}
