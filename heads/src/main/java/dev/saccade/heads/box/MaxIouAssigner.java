package dev.saccade.heads.box;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.Arrays;

/**
 * Says for every box, such as an anchor, which ground truth it should learn, by IoU; follows
 * mmdetection's {@code MaxIoUAssigner} to the tie.
 *
 * <p>A low-quality match (a box that is the best one of a ground truth, however bad) overrides an
 * earlier and better assignment, and of two ground truths the later wins. With a minimum of 0 a
 * ground truth that touches no box at all takes every box that does not touch it, as in the
 * original.
 *
 * @param posIouThr from this IoU on a box is positive
 * @param negIouThr below this IoU a box is background; in between it is not trained
 * @param minPosIou least IoU of a low-quality match
 * @param matchLowQuality whether every ground truth takes its best boxes
 * @param gtMaxAssignAll whether all boxes that tie for the best are taken, or the first alone
 * @param ignoreIofThr boxes that share more than this with an ignored region are not trained; not
 *     positive: regions are not looked at
 * @param ignoreWrtCandidates whether that is the share of the box that lies in the region, or the
 *     share of the region that lies in the box
 */
@Part("max_iou")
public record MaxIouAssigner(
        @Default("0.5") double posIouThr,
        @Default("0.4") double negIouThr,
        @Default("0") double minPosIou,
        @Default("true") boolean matchLowQuality,
        @Default("true") boolean gtMaxAssignAll,
        @Default("-1") double ignoreIofThr,
        @Default("true") boolean ignoreWrtCandidates)
        implements Assigner {

    /** Checks the thresholds. */
    public MaxIouAssigner {
        new Checks()
                .within("pos_iou_thr", posIouThr, 0, 1)
                .within("neg_iou_thr", negIouThr, 0, 1)
                .within("min_pos_iou", minPosIou, 0, 1)
                .within("ignore_iof_thr", ignoreIofThr, -1, 1)
                .throwIfAny();
        Checks.require(
                negIouThr <= posIouThr,
                "neg_iou_thr",
                negIouThr,
                "at most pos_iou_thr %s",
                posIouThr);
    }

    /** {@inheritDoc} Without objects, all priors are background. */
    @Override
    public Assignment assign(Priors priors, Instances objects) {
        Boxes boxes = priors.boxes();
        Boxes groundTruth = objects.boxes();
        int n = boxes.size();
        if (groundTruth.isEmpty()) {
            return new Assignment(new int[n], new float[n]);
        }
        boolean[] skip = inIgnored(boxes, objects.ignored());
        int k = groundTruth.size();
        BoxBlocks blocks = new BoxBlocks(boxes);
        int firstLooked = firstLooked(skip);
        float[] maxOverlap = new float[n];
        for (int i = 0; i < n; i++) {
            maxOverlap[i] = skip[i] ? -1 : 0;
        }
        int[] argMax = new int[n];
        float[] gtMax = new float[k];
        int[] gtArgMax = new int[k];
        Arrays.fill(gtMax, firstLooked < n ? 0 : -1);
        Arrays.fill(gtArgMax, firstLooked);
        for (int g = 0; g < k; g++) {
            for (int block = 0; block < blocks.size(); block++) {
                if (!blocks.mayTouch(block, groundTruth, g)) {
                    continue;
                }
                for (int i = blocks.start(block); i < blocks.start(block + 1); i++) {
                    float iou = skip[i] ? -1 : iou(groundTruth, g, boxes, i);
                    if (iou > maxOverlap[i]) {
                        maxOverlap[i] = iou;
                        argMax[i] = g;
                    }
                    if (iou > gtMax[g]) {
                        gtMax[g] = iou;
                        gtArgMax[g] = i;
                    }
                }
            }
        }
        int[] gtIndex = new int[n];
        for (int i = 0; i < n; i++) {
            boolean negative = maxOverlap[i] >= 0 && maxOverlap[i] < (float) negIouThr;
            boolean positive = maxOverlap[i] >= (float) posIouThr;
            gtIndex[i] = positive ? argMax[i] + 1 : negative ? 0 : -1;
        }
        if (matchLowQuality) {
            matchBest(blocks, groundTruth, skip, gtMax, gtArgMax, gtIndex);
        }
        return new Assignment(gtIndex, maxOverlap);
    }

    private static int firstLooked(boolean[] skip) {
        int first = 0;
        while (first < skip.length && skip[first]) {
            first++;
        }
        return first;
    }

    private void matchBest(
            BoxBlocks blocks,
            Boxes groundTruth,
            boolean[] skip,
            float[] gtMax,
            int[] gtArgMax,
            int[] gtIndex) {
        Boxes boxes = blocks.boxes();
        for (int g = 0; g < groundTruth.size(); g++) {
            if (gtMax[g] < (float) minPosIou || boxes.isEmpty()) {
                continue;
            }
            if (!gtMaxAssignAll) {
                gtIndex[gtArgMax[g]] = g + 1;
                continue;
            }
            for (int block = 0; block < blocks.size(); block++) {
                if (gtMax[g] > 0 && !blocks.mayTouch(block, groundTruth, g)) {
                    continue;
                }
                for (int i = blocks.start(block); i < blocks.start(block + 1); i++) {
                    if (!skip[i] && iou(groundTruth, g, boxes, i) == gtMax[g]) {
                        gtIndex[i] = g + 1;
                    }
                }
            }
        }
    }

    private boolean[] inIgnored(Boxes boxes, Boxes ignored) {
        boolean[] inside = new boolean[boxes.size()];
        if (ignoreIofThr <= 0) {
            return inside;
        }
        for (int r = 0; r < ignored.size(); r++) {
            for (int i = 0; i < boxes.size(); i++) {
                float whole = ignoreWrtCandidates ? boxes.area(i) : ignored.area(r);
                float share = intersection(boxes, i, ignored, r) / Math.max(whole, 1e-6f);
                inside[i] |= share > (float) ignoreIofThr;
            }
        }
        return inside;
    }

    private static float iou(Boxes a, int i, Boxes b, int j) {
        float intersection = intersection(a, i, b, j);
        if (intersection == 0) {
            return 0;
        }
        return intersection / Math.max(a.area(i) + b.area(j) - intersection, 1e-6f);
    }

    private static float intersection(Boxes a, int i, Boxes b, int j) {
        float width = Math.min(a.x2(i), b.x2(j)) - Math.max(a.x1(i), b.x1(j));
        if (width <= 0) {
            return 0;
        }
        float height = Math.min(a.y2(i), b.y2(j)) - Math.max(a.y1(i), b.y1(j));
        return height <= 0 ? 0 : width * height;
    }
}
