package dev.saccade.heads.box;

import com.google.common.primitives.Floats;
import com.google.common.primitives.Ints;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * What every prior of an image should learn.
 *
 * @param gtInds [N]: -1 not trained, 0 background, k + 1 object k
 * @param maxOverlaps [N]: the greatest IoU with an object; 0 without any
 */
@SuppressWarnings("ArrayRecordComponent") // a result that is read once, on the hot path
public record Assignment(int[] gtInds, float[] maxOverlaps) {

    /**
     * Returns what an assigner says, see {@link Assigner#assign}.
     *
     * @throws SaccadeException of kind user that names the assigner, if it does not say something
     *     of every prior, or speaks of objects that are not there
     */
    public static Assignment by(Assigner assigner, Priors priors, Instances objects) {
        Assignment found = assigner.assign(priors, objects);
        int number = priors.boxes().size();
        if (found.gtInds.length != number || found.maxOverlaps.length != number) {
            throw SaccadeException.user(
                    "assigner %s: gave %d gtInds and %d maxOverlaps, expected one for each of %d"
                            + " priors",
                    assigner.type(), found.gtInds.length, found.maxOverlaps.length, number);
        }
        for (int index : found.gtInds) {
            if (index < -1 || index > objects.size()) {
                throw SaccadeException.user(
                        "assigner %s: gave %d among its gtInds, expected -1 to %d, the number of"
                                + " objects",
                        assigner.type(), index, objects.size());
            }
        }
        return found;
    }

    /** Returns the positions of the priors that an object is assigned to, ascending. */
    public int[] positives() {
        return where(index -> index > 0);
    }

    /** Returns the positions of the priors that are background, ascending. */
    public int[] negatives() {
        return where(index -> index == 0);
    }

    private int[] where(IntPredicate wanted) {
        return IntStream.range(0, gtInds.length).filter(i -> wanted.test(gtInds[i])).toArray();
    }

    /** Returns the objects that are assigned to priors at positions among the positive ones. */
    public int[] objects(int... positives) {
        return Arrays.stream(positives).map(i -> gtInds[i] - 1).toArray();
    }

    /** Returns the assignment of these priors behind the objects themselves, each to itself. */
    public Assignment behindObjects(int objects) {
        float[] ones = new float[objects];
        Arrays.fill(ones, 1);
        return new Assignment(
                Ints.concat(IntStream.rangeClosed(1, objects).toArray(), gtInds),
                Floats.concat(ones, maxOverlaps));
    }
}
