package dev.saccade.models;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.Optional;

/**
 * An object that a {@link Detector} found in an image.
 *
 * @param classIndex index of the class in {@link Detector#classes}
 * @param score confidence, from 0 to 1
 * @param box bounding box, clipped to the image
 * @param mask mask at image size, if the model predicts masks; see {@link Rle#decode} and {@link
 *     Rle#toImage}
 */
public record DetectedObject(
        String label, int classIndex, double score, Box box, Optional<Rle> mask) {

    /** Converts predictions, in original pixels, to objects with names from {@code classes}. */
    public static List<DetectedObject> of(Instances instances, List<String> classes) {
        Boxes boxes = instances.boxes();
        ImmutableList.Builder<DetectedObject> objects = ImmutableList.builder();
        for (int i = 0; i < instances.size(); i++) {
            int label = instances.label(i);
            Box box = new Box(boxes.x1(i), boxes.y1(i), boxes.x2(i), boxes.y2(i));
            Optional<Rle> mask =
                    instances.hasMasks() ? Optional.of(instances.mask(i)) : Optional.empty();
            objects.add(
                    new DetectedObject(classes.get(label), label, instances.score(i), box, mask));
        }
        return objects.build();
    }
}
