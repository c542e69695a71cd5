package dev.saccade.eval.coco;

/** What has become of a detection. */
public enum Verdict {
    /** It covers an object of its class that no surer detection covers. */
    TRUE_POSITIVE,
    /** It covers no such object. */
    FALSE_POSITIVE,
    /** It counts neither way: it lies in a crowd, or is of a size that is not looked at. */
    IGNORED
}
