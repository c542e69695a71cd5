package dev.saccade.train.schedules;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * How long a run lasts.
 *
 * @param iterations optimiser steps of the whole run
 * @param iterationsPerEpoch optimiser steps of one pass over the data
 */
public record RunLength(long iterations, long iterationsPerEpoch) {

    /** Checks the values. */
    public RunLength {
        checkArgument(iterations > 0, "%s iterations", iterations);
        checkArgument(iterationsPerEpoch > 0, "%s iterations per epoch", iterationsPerEpoch);
    }

    /** Returns the length of a run of whole epochs. */
    public static RunLength ofEpochs(int epochs, long iterationsPerEpoch) {
        return new RunLength(epochs * iterationsPerEpoch, iterationsPerEpoch);
    }

    /** Returns the epoch, from 0, to which a step belongs. */
    public int epoch(long iteration) {
        return Math.toIntExact(iteration / iterationsPerEpoch);
    }
}
