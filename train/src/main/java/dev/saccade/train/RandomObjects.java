package dev.saccade.train;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

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
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            float x = (float) (random.nextDouble() * 0.8 * size.width());
            float y = (float) (random.nextDouble() * 0.8 * size.height());
            float x2 = x + (float) ((0.05 + random.nextDouble() * 0.15) * size.width());
            float y2 = y + (float) ((0.05 + random.nextDouble() * 0.15) * size.height());
            System.arraycopy(new float[] {x, y, x2, y2}, 0, boxes, 4 * i, 4);
            labels[i] = random.nextInt(classes);
            masks.add(Rle.fromBox(size, x, y, x2 - x, y2 - y));
        }
        return Instances.groundTruth(Boxes.of(boxes), labels).withMasks(masks);
    }
}
