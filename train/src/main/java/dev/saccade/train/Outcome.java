package dev.saccade.train;

/** How a run ended, when it ended well. */
public enum Outcome {
    /** All steps were taken. */
    FINISHED,
    /** The monitored metric did not rise any more. */
    STOPPED_EARLY,
    /** It was asked to stop; it can be resumed. */
    INTERRUPTED
}
