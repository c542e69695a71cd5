package dev.saccade.demo;

import dev.saccade.core.structures.Rle;

/**
 * A labeled object of a scene.
 *
 * @param label index of its class in {@link Thing#CLASSES}
 * @param mask its visible pixels
 */
record SceneObject(int label, Rle mask) {

    SceneObject minus(Rle covered) {
        return new SceneObject(label, mask.minus(covered));
    }
}
