package dev.saccade.heads;

import dev.saccade.core.Checks;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Chooses at random which candidates of an image are trained, so that background does not drown the
 * objects; follows mmdetection's {@code RandomSampler}.
 *
 * @param num candidates an image
 * @param posFraction at most this part of them is positive
 * @param negPosUb at most so many negatives for each positive; negative for no such limit
 * @param addGtAsProposals whether the objects themselves are candidates
 */
public record RandomSampler(
        int num, double posFraction, double negPosUb, boolean addGtAsProposals) {

    /** The sampler of the second stage of Mask R-CNN. */
    public RandomSampler() {
        this(512, 0.25, -1, true);
    }

    /** Checks the values. */
    public RandomSampler {
        new Checks()
                .within("num", num, 1, 100_000_000)
                .within("pos_fraction", posFraction, 0, 1)
                .within("neg_pos_ub", negPosUb, -1, 100_000_000)
                .throwIfAny();
    }

    /**
     * What was drawn, ascending.
     *
     * @param positives which of the positives
     * @param negatives which of the negatives
     */
    @SuppressWarnings("ArrayRecordComponent") // a result that is read once
    record Drawn(int[] positives, int[] negatives) {}

    /** Draws among a number of positives and of negatives; takes all where there are few. */
    Drawn draw(int positives, int negatives, SplittableRandom random) {
        int[] drawn = subset(positives, (int) (num * posFraction), random);
        int most = num - drawn.length;
        if (negPosUb >= 0) {
            most = Math.min(most, (int) (negPosUb * Math.max(1, drawn.length)));
        }
        return new Drawn(drawn, subset(negatives, most, random));
    }

    private static int[] subset(int size, int most, SplittableRandom random) {
        int[] all = IntStream.range(0, size).toArray();
        if (size <= most) {
            return all;
        }
        for (int i = 0; i < most; i++) {
            int other = random.nextInt(i, size);
            int chosen = all[other];
            all[other] = all[i];
            all[i] = chosen;
        }
        int[] chosen = Arrays.copyOf(all, most);
        Arrays.sort(chosen);
        return chosen;
    }
}
