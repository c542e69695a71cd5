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
    LABEL_MAPS(LabelMap.class);

    private final Class<?> predictionType;

    TargetKind(Class<?> predictionType) {
        this.predictionType = predictionType;
    }

    /** Returns the class of what such a head predicts for a photograph. */
    public Class<?> predictionType() {
        return predictionType;
    }
}
