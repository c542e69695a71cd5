package dev.saccade.eval.coco;

/** Result of matching a detection. */
public enum MatchStatus {
    /** Matches an object of its class that no detection with a higher score matches. */
    TRUE_POSITIVE,
    /** Matches no object that is still unmatched. */
    FALSE_POSITIVE,
    /** Not counted: in a crowd, outside the evaluated size range, or beyond the detection limit. */
    IGNORED
}
