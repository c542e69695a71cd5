package dev.saccade.models;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

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

    /** Converts objects of an image to predictions; missing masks become empty if others exist. */
    public static Instances toInstances(List<DetectedObject> objects, Size size) {
        float[] corners = new float[4 * objects.size()];
        float[] scores = new float[objects.size()];
        for (int i = 0; i < scores.length; i++) {
            Box box = objects.get(i).box();
            corners[4 * i] = (float) box.x1();
            corners[4 * i + 1] = (float) box.y1();
            corners[4 * i + 2] = (float) box.x2();
            corners[4 * i + 3] = (float) box.y2();
            scores[i] = (float) objects.get(i).score();
        }
        Instances instances =
                Instances.predicted(
                        Boxes.of(corners),
                        objects.stream().mapToInt(DetectedObject::classIndex).toArray(),
                        scores);
        boolean masks = objects.stream().anyMatch(object -> object.mask().isPresent());
        return masks
                ? instances.withMasks(
                        objects.stream()
                                .map(object -> object.mask().orElseGet(() -> Rle.empty(size)))
                                .toList())
                : instances;
    }
}
