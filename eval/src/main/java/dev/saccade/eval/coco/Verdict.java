package dev.saccade.eval.coco;

/** Result of matching a detection. */
public enum Verdict {
    /** It matches an object of its class that no detection with a higher score matches. */
    TRUE_POSITIVE,
    /** It matches no such object. */
    FALSE_POSITIVE,
    /** It does not count: it lies in a crowd, or its size is not evaluated. */
    IGNORED
}
