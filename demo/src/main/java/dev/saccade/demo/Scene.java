package dev.saccade.demo;

import dev.saccade.core.structures.Size;

import java.util.List;

/** A rendered picture and what is to be seen on it. */
final class Scene {

    private final Size size;
    private final byte[] bgr;
    private final List<SceneObject> objects;

    Scene(Size size, byte[] bgr, List<SceneObject> objects) {
        this.size = size;
        this.bgr = bgr.clone();
        this.objects = List.copyOf(objects);
    }

    /** Returns the size of the picture. */
    Size size() {
        return size;
    }

    /** Returns the pixels, {@code [H, W, 3]}, blue first. */
    byte[] bgr() {
        return bgr.clone();
    }

    /** Returns the things from the lowest to the topmost; none on an empty table. */
    List<SceneObject> objects() {
        return objects;
    }
}
