package dev.saccade.eval.tide;

/**
 * TIDE's error types of a detector (Bolya et al., 2020). The first type that applies counts, in
 * this order: localization, classification, duplicate, background, both.
 */
public enum DetectionError {
    /** Correct location, wrong class. */
    CLASSIFICATION,
    /** Correct class, but an IoU of only 0.1 to 0.5 with the object. */
    LOCALIZATION,
    /** Wrong class and IoU of 0.1 to 0.5 with the object. */
    BOTH,
    /** Correct class and location, but a detection with a higher score matches the object. */
    DUPLICATE,
    /** IoU of at most 0.1 with every object. */
    BACKGROUND,
    /** Object that no detection would match, even with a corrected class or location. */
    MISSED
}
