package dev.saccade.heads.anchor;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Nms;
import dev.saccade.core.parts.Default;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How region proposals are chosen among the anchors.
 *
 * @param nmsPre so many anchors of a level, those of the highest scores, are looked at
 * @param maxPerImg at most so many proposals an image
 * @param iouThr boxes of one level that overlap more than this go
 * @param minBboxSize boxes less wide or high than this many pixels go
 */
public record ProposalConfig(
        @Default("1000") int nmsPre,
        @Default("1000") int maxPerImg,
        @Default("0.7") double iouThr,
        @Default("0") double minBboxSize) {

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
        return new ProposalConfig(nmsPre, maxPerImg, iouThr, 0);
    }

    /** Returns how many proposals an image has at most, in a pyramid of so many levels. */
    public int most(int levels) {
        return (int) Math.min(maxPerImg, (long) levels * nmsPre);
    }

    /**
     * Returns the proposals of an image, best first, all with label 0.
     *
     * @param candidates of each level, one score a box; boxes whose score is no number go, and
     *     those of one level leave those of others alone
     */
    public Instances select(List<ScoredBoxes> candidates) {
        ScoredBoxes all = ScoredBoxes.concat(candidates);
        Boxes boxes = all.boxes();
        float[] scores = all.scores();
        int[] levels =
                IntStream.range(0, candidates.size())
                        .flatMap(
                                l ->
                                        IntStream.range(0, candidates.get(l).boxes().size())
                                                .map(i -> l))
                        .toArray();
        int[] large =
                IntStream.range(0, boxes.size())
                        .filter(i -> !Float.isNaN(scores[i]))
                        .filter(i -> minBboxSize <= 0 || isLarge(boxes, i))
                        .toArray();
        Instances proposals =
                Instances.predicted(boxes, new int[boxes.size()], scores).select(large);
        float[] largeScores = new float[large.length];
        int[] largeLevels = new int[large.length];
        for (int i = 0; i < large.length; i++) {
            largeScores[i] = scores[large[i]];
            largeLevels[i] = levels[large[i]];
        }
        int[] keep = Nms.keep(proposals.boxes(), largeScores, largeLevels, (float) iouThr);
        return proposals.select(Arrays.copyOf(keep, Math.min(keep.length, maxPerImg)));
    }

    private boolean isLarge(Boxes boxes, int i) {
        return boxes.width(i) >= (float) minBboxSize && boxes.height(i) >= (float) minBboxSize;
    }
}
