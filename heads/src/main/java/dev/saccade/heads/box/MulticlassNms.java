package dev.saccade.heads.box;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Nms;
import dev.saccade.core.parts.Default;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.Arrays;

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
     * @param instances the objects in descending order of score
     * @param keep their positions {@code box * numClasses + class} among the pairs given, counted
     *     over the pairs above the score threshold
     */
    @SuppressWarnings("ArrayRecordComponent") // a result that is read once
    public record Kept(Instances instances, int[] keep) {}

    /**
     * Selects.
     *
     * @param boxes [N] boxes for all classes, or [N * C] boxes for each
     * @param scores {@code [N * C]} scores, class fastest
     * @param numClasses C, background not counted
     */
    public Kept apply(Boxes boxes, float[] scores, int numClasses) {
        int[] candidates = new int[scores.length];
        int count = 0;
        for (int i = 0; i < scores.length; i++) {
            if (scores[i] > (float) scoreThr) {
                candidates[count++] = i;
            }
        }
        candidates = Arrays.copyOf(candidates, count);
        boolean perClass = boxes.size() == scores.length;
        Boxes candidateBoxes =
                boxes.select(
                        perClass
                                ? candidates
                                : Arrays.stream(candidates).map(i -> i / numClasses).toArray());
        float[] candidateScores = new float[count];
        int[] labels = new int[count];
        for (int i = 0; i < count; i++) {
            candidateScores[i] = scores[candidates[i]];
            labels[i] = candidates[i] % numClasses;
        }
        int[] keep = Nms.keep(candidateBoxes, candidateScores, labels, (float) iouThr);
        keep = Arrays.copyOf(keep, Math.min(keep.length, maxPerImg));
        return new Kept(
                Instances.predicted(candidateBoxes, labels, candidateScores).select(keep), keep);
    }
}
