package dev.saccade.core.components;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;

/** Type of training targets of a head. */
public enum TargetKind {
    /** A box and a label per object. */
    BOXES(Instances.class),
    /** A box, a label and a mask per object. */
    MASKS(Instances.class),
    /** A class index per pixel. */
    LABEL_MAPS(LabelMap.class),
    /** A box, a label and a mask per object, and a class index per pixel. */
    MASKS_AND_LABEL_MAPS(Instances.class),
    /** A class index per image. */
    CLASSES(ClassScores.class);

    private final Class<?> predictionType;

    TargetKind(Class<?> predictionType) {
        this.predictionType = predictionType;
    }

    /** Returns whether targets contain boxes and labels. */
    public boolean hasObjects() {
        return this == BOXES || hasMasks();
    }

    public boolean hasMasks() {
        return this == MASKS || this == MASKS_AND_LABEL_MAPS;
    }

    public boolean hasLabelMaps() {
        return this == LABEL_MAPS || this == MASKS_AND_LABEL_MAPS;
    }

    /** Returns the type of predictions; label maps of instance heads are used only in training. */
    public TargetKind predicted() {
        return this == MASKS_AND_LABEL_MAPS ? MASKS : this;
    }

    /** Returns {@link Instances}, {@link LabelMap} or {@link ClassScores}. */
    public Class<?> predictionType() {
        return predictionType;
    }
}
