package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.vision.Nms;
import dev.saccade.core.parts.Default;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.List;
import java.util.Map;

/**
 * How region proposals are chosen among the anchors, as since mmdetection 2.14: earlier ones, and
 * the detectors of the papers, keep proposals without area, which padding brings about.
 *
 * @param nmsPre so many anchors of a level, those of the highest scores, are looked at
 * @param maxPerImg at most so many proposals an image
 * @param iouThr boxes of one level that overlap more than this go
 * @param minBboxSize boxes not wider and higher than this many pixels go; negative: none
 */
public record ProposalConfig(
        @Default("1000") int nmsPre,
        @Default("1000") int maxPerImg,
        @Default("0.7") double iouThr,
        @Default("0") double minBboxSize) {

    /** The level of each row of lists of scores. */
    private static final Script LEVELS =
            Script.compile(
                    "(scores: List[Tensor]) -> Tensor",
                    """
                    levels = annotate(List[Tensor], [])
                    for i in range(torch.len(scores)):
                      rows = torch.size(scores[i], 1)
                      _0 = torch.append(levels, torch.full([rows], i, dtype=4, device=scores[i].device))
                    return torch.cat(levels)
                    """);

    /** Scores that are no number for boxes that are too small. */
    private static final ScriptTemplate OF_LARGE =
            ScriptTemplate.of(
                    "(boxes: Tensor, scores: Tensor) -> Tensor",
                    """
                    b = torch.unbind(boxes, 2)
                    wide = torch.gt(torch.sub(b[2], b[0]), {least})
                    high = torch.gt(torch.sub(b[3], b[1]), {least})
                    large = torch.unsqueeze(torch.logical_and(wide, high), 2)
                    return torch.where(large, scores, torch.log(torch.full_like(scores, -1.)))
                    """);

    /** Checks the values. */
    public ProposalConfig {
        new Checks()
                .within("nms_pre", nmsPre, 1, 100_000_000)
                .within("max_per_img", maxPerImg, 1, 100_000_000)
                .above("iou_thr", iouThr, 0, 1)
                .within("min_bbox_size", minBboxSize, -1, 1e6)
                .throwIfAny();
    }

    /** Returns the same settings, but that boxes may be of any size. */
    ProposalConfig ofAnySize() {
        return new ProposalConfig(nmsPre, maxPerImg, iouThr, -1);
    }

    /** Returns how many proposals an image has at most, in a pyramid of so many levels. */
    public int most(int levels) {
        return (int) Math.min(maxPerImg, (long) levels * nmsPre);
    }

    /**
     * Returns the proposals of the images of a batch, best first, all with label 0.
     *
     * @param candidates of each level, one score a box; boxes whose score is no number go, and
     *     those of one level leave those of others alone
     */
    public Detections select(List<ScoredBoxes> candidates) {
        ScoredBoxes all = ScoredBoxes.concat(candidates);
        if (minBboxSize >= 0) {
            NDArray scores =
                    OF_LARGE.with(Map.of("least", (double) (float) minBboxSize))
                            .run(all.boxes(), all.scores());
            all = new ScoredBoxes(all.boxes(), scores);
        }
        NDArray levels =
                LEVELS.runLists(List.of(candidates.stream().map(ScoredBoxes::scores).toList()))
                        .singletonOrThrow();
        Nms nms = new Nms(iouThr, Nms.ANY_SCORE, maxPerImg);
        return Detections.of(all, nms.keep(all.boxes(), all.scores(), levels));
    }
}
