package dev.saccade.train;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Objects drawn by lot, for steps that are timed or measured and not learned from.
 *
 * @param size of the images
 * @param classes how many labels there are
 */
public record RandomObjects(Size size, int classes) {

    private static final int OBJECTS = 20;

    /**
     * Returns 20 objects with masks that fill their boxes, the same whenever they are asked for.
     */
    public Instances of(int image) {
        SplittableRandom random = SeededRandom.of(0, image);
        float[] boxes = new float[4 * OBJECTS];
        int[] labels = new int[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) {
            float x = (float) (random.nextDouble() * 0.8 * size.width());
            float y = (float) (random.nextDouble() * 0.8 * size.height());
            boxes[4 * i] = x;
            boxes[4 * i + 1] = y;
            boxes[4 * i + 2] = x + (float) ((0.05 + random.nextDouble() * 0.15) * size.width());
            boxes[4 * i + 3] = y + (float) ((0.05 + random.nextDouble() * 0.15) * size.height());
            labels[i] = random.nextInt(classes);
        }
        return Instances.groundTruth(Boxes.of(boxes), labels).withMasks(masks(boxes));
    }

    private List<Rle> masks(float[] boxes) {
        return IntStream.range(0, OBJECTS)
                .mapToObj(
                        i ->
                                Rle.fromBox(
                                        size,
                                        boxes[4 * i],
                                        boxes[4 * i + 1],
                                        boxes[4 * i + 2] - boxes[4 * i],
                                        boxes[4 * i + 3] - boxes[4 * i + 1]))
                .toList();
    }
}
