package dev.saccade.heads.box;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Chooses at random which priors of an image are trained, so that background does not drown the
 * objects; follows mmdetection's {@code RandomSampler}. Losses are means over all that are chosen.
 *
 * @param num priors an image
 * @param posFraction at most this part of them is positive
 * @param negPosUb at most so many negatives for each positive; negative for no such limit
 * @param addGtAsProposals whether the objects themselves join the regions of a second stage
 */
@Part("random")
public record RandomSampler(
        @Default("512") int num,
        @Default("0.25") double posFraction,
        @Default("-1") double negPosUb,
        @Default("true") boolean addGtAsProposals)
        implements Sampler {

    /** Checks the values. */
    public RandomSampler {
        new Checks()
                .within("num", num, 1, 100_000_000)
                .within("pos_fraction", posFraction, 0, 1)
                .within("neg_pos_ub", negPosUb, -1, 100_000_000)
                .throwIfAny();
    }

    /** Draws from positives and from negatives; takes all where there are few. */
    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        int[] positives = subset(assignment.positives(), (int) (num * posFraction), random);
        int most = num - positives.length;
        if (negPosUb >= 0) {
            most = Math.min(most, (int) (negPosUb * Math.max(1, positives.length)));
        }
        int[] negatives = subset(assignment.negatives(), most, random);
        return new SamplingResult(positives, negatives, true);
    }

    private static int[] subset(int[] positions, int most, SplittableRandom random) {
        if (positions.length <= most) {
            return positions;
        }
        for (int i = 0; i < most; i++) {
            int other = random.nextInt(i, positions.length);
            int chosen = positions[other];
            positions[other] = positions[i];
            positions[i] = chosen;
        }
        int[] chosen = Arrays.copyOf(positions, most);
        Arrays.sort(chosen);
        return chosen;
    }
}
