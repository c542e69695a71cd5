package dev.saccade.eval;

/** What the overlap of a detection and an object is measured on. */
public enum IouType {
    /** Boxes, in continuous coordinates. */
    BOX,
    /** Masks, in pixels. */
    MASK
}
