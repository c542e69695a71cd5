package dev.saccade.train.schedules;

import dev.saccade.core.Checks;

/** Length of a run in optimizer steps. */
public record RunLength(long iterations, long iterationsPerEpoch) {

    private static final double MAX_ITERATIONS = 1e18;

    public RunLength {
        new Checks()
                .inRange("iterations", iterations, 1, MAX_ITERATIONS)
                .inRange("iterations_per_epoch", iterationsPerEpoch, 1, MAX_ITERATIONS)
                .throwIfAny();
    }

    public static RunLength ofEpochs(int epochs, long iterationsPerEpoch) {
        return new RunLength(epochs * iterationsPerEpoch, iterationsPerEpoch);
    }

    /** Returns the epoch of a step, both counted from 0. */
    public int epoch(long iteration) {
        return Math.toIntExact(iteration / iterationsPerEpoch);
    }
}
