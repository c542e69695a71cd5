package dev.saccade.models;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.Optional;

/**
 * An object that a {@link Detector} has found in a photograph.
 *
 * @param label the name of its class
 * @param classIndex the position of its class in {@link Detector#classes}
 * @param score how sure the detector is, from 0 to 1
 * @param box where it is, within the photograph
 * @param mask its pixels, of the size of the photograph, if the detector tells them; {@link
 *     Rle#decode} and {@link Rle#toImage} give a bitmap
 */
public record DetectedObject(
        String label, int classIndex, double score, Box box, Optional<Rle> mask) {

    /**
     * Returns the objects of one photograph, in their order.
     *
     * @param instances as a detector predicts them, in pixels of the photograph
     * @param classes the names of the labels
     */
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
