package dev.saccade.demo;

import dev.saccade.core.structures.Rle;

/** An object with its index in {@link ObjectTemplate#CLASSES} and its visible pixels. */
record SceneObject(int label, Rle mask) {

    SceneObject minus(Rle covered) {
        return new SceneObject(label, mask.minus(covered));
    }
}
