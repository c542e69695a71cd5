package dev.saccade.train.schedules;

import dev.saccade.core.Checks;

/**
 * How long a run lasts.
 *
 * @param iterations optimizer steps of the whole run
 * @param iterationsPerEpoch optimizer steps of one pass over the data
 */
public record RunLength(long iterations, long iterationsPerEpoch) {

    private static final double MOST = 1e18;

    /** Checks the values. */
    public RunLength {
        new Checks()
                .inRange("iterations", iterations, 1, MOST)
                .inRange("iterations_per_epoch", iterationsPerEpoch, 1, MOST)
                .throwIfAny();
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
