package dev.saccade.train;

/** How a run ended without an error. */
public enum Outcome {
    FINISHED,
    /** Early stopping or a hook ended the run. */
    STOPPED_EARLY,
    /** Training was asked to stop; the run can be resumed. */
    INTERRUPTED
}
