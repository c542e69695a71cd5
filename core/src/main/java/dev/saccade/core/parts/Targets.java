package dev.saccade.core.parts;

/** What a head learns from, and so what must be known of each photograph in training. */
public enum Targets {
    /** A box and a label for every object. */
    BOXES,
    /** A box, a label and a mask for every object. */
    MASKS,
    /** A class for every pixel. */
    LABEL_MAPS
}
