package dev.saccade.eval.coco;

/** Geometry for the IoU of a detection and an object. */
public enum IouType {
    /** Boxes, in continuous coordinates. */
    BOX(""),
    /** Masks, in pixels. */
    MASK("mask_");

    private final String prefix;

    IouType(String prefix) {
        this.prefix = prefix;
    }

    /** Returns the prefix of metric names; empty for boxes. */
    public String prefix() {
        return prefix;
    }
}
