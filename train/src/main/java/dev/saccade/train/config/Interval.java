package dev.saccade.train.config;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.train.schedules.RunLength;

import java.util.Optional;

/**
 * How often something happens.
 *
 * @param epochs every so many epochs
 * @param iterations every so many optimiser steps; where given it counts instead of {@code epochs}
 */
public record Interval(int epochs, Optional<Long> iterations) {

    /** Every epoch. */
    public Interval() {
        this(1, Optional.empty());
    }

    /** Checks the values. */
    public Interval {
        checkArgument(epochs > 0, "epochs %s is not above 0", epochs);
        iterations.ifPresent(n -> checkArgument(n > 0, "iterations %s is not above 0", n));
    }

    /** Returns whether it is time after so many optimiser steps. */
    public boolean isDue(long iteration, RunLength length) {
        return iteration % iterations.orElse(epochs * length.iterationsPerEpoch()) == 0;
    }
}
