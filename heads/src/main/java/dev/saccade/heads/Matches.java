package dev.saccade.heads;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * What the candidates of an image, be they anchors or regions, should learn; those that appear
 * nowhere are not trained.
 *
 * @param positives [P] positions of candidates that should find an object, ascending
 * @param objects [P] the object of each
 * @param negatives [M] positions of candidates that should see background, ascending
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
record Matches(int[] positives, int[] objects, int[] negatives) {

    /**
     * Sorts out an assignment.
     *
     * @param positions of the candidates, ascending
     * @param assigned for each -1 not trained, 0 background, k + 1 object k
     */
    static Matches of(int[] positions, int[] assigned) {
        int[] positives = new int[assigned.length];
        int[] objects = new int[assigned.length];
        int[] negatives = new int[assigned.length];
        int found = 0;
        int background = 0;
        for (int i = 0; i < assigned.length; i++) {
            if (assigned[i] > 0) {
                positives[found] = positions[i];
                objects[found++] = assigned[i] - 1;
            } else if (assigned[i] == 0) {
                negatives[background++] = positions[i];
            }
        }
        return new Matches(
                Arrays.copyOf(positives, found),
                Arrays.copyOf(objects, found),
                Arrays.copyOf(negatives, background));
    }

    /** Returns a random choice of the candidates. */
    Matches sample(RandomSampler sampler, SplittableRandom random) {
        RandomSampler.Drawn drawn = sampler.draw(positives.length, negatives.length, random);
        return new Matches(
                at(positives, drawn.positives()),
                at(objects, drawn.positives()),
                at(negatives, drawn.negatives()));
    }

    private static int[] at(int[] values, int[] positions) {
        return Arrays.stream(positions).map(i -> values[i]).toArray();
    }
}
