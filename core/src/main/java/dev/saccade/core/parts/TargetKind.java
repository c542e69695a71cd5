package dev.saccade.core.parts;

import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;

/** What a head learns from, and so what must be known of each photograph in training. */
public enum TargetKind {
    /** A box and a label for every object. */
    BOXES(Instances.class),
    /** A box, a label and a mask for every object. */
    MASKS(Instances.class),
    /** A class for every pixel. */
    LABEL_MAPS(LabelMap.class),
    /** A box, a label and a mask for every object, and a class for every pixel. */
    MASKS_AND_LABEL_MAPS(Instances.class);

    private final Class<?> predictionType;

    TargetKind(Class<?> predictionType) {
        this.predictionType = predictionType;
    }

    /** Returns whether every object has a box and a label. */
    public boolean hasObjects() {
        return this != LABEL_MAPS;
    }

    /** Returns whether every object has a mask, too. */
    public boolean hasMasks() {
        return this == MASKS || this == MASKS_AND_LABEL_MAPS;
    }

    /** Returns whether every pixel has a class. */
    public boolean hasLabelMaps() {
        return this == LABEL_MAPS || this == MASKS_AND_LABEL_MAPS;
    }

    /**
     * Returns what must be known of a photograph where predictions are measured: a head that learns
     * objects beside label maps predicts objects alone.
     */
    public TargetKind predicted() {
        return this == MASKS_AND_LABEL_MAPS ? MASKS : this;
    }

    /** Returns the class of what such a head predicts for a photograph. */
    public Class<?> predictionType() {
        return predictionType;
    }
}
