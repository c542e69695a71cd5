package dev.saccade.heads;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Nms;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * How region proposals are chosen among the anchors.
 *
 * @param nmsPre so many anchors of a level, those of the highest scores, are looked at
 * @param maxPerImg at most so many proposals an image
 * @param iouThr boxes of one level that overlap more than this go
 * @param minBboxSize boxes less wide or high than this many pixels go
 */
public record Proposals(int nmsPre, int maxPerImg, double iouThr, double minBboxSize) {

    /** The proposals of Mask R-CNN in inference. */
    public Proposals() {
        this(1000, 1000, 0.7, 0);
    }

    /** Checks the values. */
    public Proposals {
        new Checks()
                .within("nms_pre", nmsPre, 1, 100_000_000)
                .within("max_per_img", maxPerImg, 1, 100_000_000)
                .above("iou_thr", iouThr, 0, 1)
                .within("min_bbox_size", minBboxSize, -1, 1e6)
                .throwIfAny();
    }

    /** Returns how many proposals an image has at most, in a pyramid of so many levels. */
    int most(int levels) {
        return (int) Math.min(maxPerImg, (long) levels * nmsPre);
    }

    /**
     * Returns the proposals of an image, best first, all with label 0.
     *
     * @param boxes [K] boxes of all levels
     * @param scores [K]; boxes whose score is no number go
     * @param levels [K] the level of each, which leaves those of others alone
     */
    Instances select(Boxes boxes, float[] scores, int[] levels) {
        int[] large =
                IntStream.range(0, boxes.size())
                        .filter(i -> !Float.isNaN(scores[i]))
                        .filter(i -> minBboxSize <= 0 || isLarge(boxes, i))
                        .toArray();
        Instances candidates =
                Instances.predicted(boxes, new int[boxes.size()], scores).select(large);
        float[] largeScores = new float[large.length];
        int[] largeLevels = new int[large.length];
        for (int i = 0; i < large.length; i++) {
            largeScores[i] = scores[large[i]];
            largeLevels[i] = levels[large[i]];
        }
        int[] keep = Nms.keep(candidates.boxes(), largeScores, largeLevels, (float) iouThr);
        return candidates.select(Arrays.copyOf(keep, Math.min(keep.length, maxPerImg)));
    }

    private boolean isLarge(Boxes boxes, int i) {
        return boxes.width(i) >= (float) minBboxSize && boxes.height(i) >= (float) minBboxSize;
    }
}
