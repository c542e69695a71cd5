package dev.saccade.train.hooks;

import java.time.Duration;

/**
 * How long an optimizer step took, or some on average.
 *
 * @param seconds wall time, waiting for data included
 * @param dataSeconds the part of it that was spent waiting for data
 * @param remaining estimated time to the end of the run
 */
public record StepTime(double seconds, double dataSeconds, Duration remaining) {

    /** Returns the share of the time that was spent waiting for data, in [0, 1]. */
    public double dataShare() {
        return seconds > 0 ? dataSeconds / seconds : 0;
    }
}
