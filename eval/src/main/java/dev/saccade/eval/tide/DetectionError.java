package dev.saccade.eval.tide;

/**
 * What can be wrong with a detector, as TIDE tells it apart (Bolya et al. 2020). The first that
 * applies counts, in the order: localization, classification, duplicate, background, both.
 */
public enum DetectionError {
    /** The box or mask is right, but it is of another class. */
    CLASSIFICATION,
    /** The class is right, but it overlaps the object by .1 to .5 only. */
    LOCALIZATION,
    /** It overlaps an object of another class, and that by .1 to .5 only. */
    BOTH,
    /** It is right, but a surer detection has found the object already. */
    DUPLICATE,
    /** It overlaps no object by more than .1. */
    BACKGROUND,
    /** An object that no detection finds, not even by mending its class or its place. */
    MISSED
}
