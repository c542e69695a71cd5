package dev.saccade.heads.roi;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Rois;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The regions of a batch that a second stage is trained on; of every image first the positive ones,
 * then background.
 *
 * @param rois [R] the regions; at least one, which is {@link #weights weighted} 0 if nothing was
 *     drawn
 * @param labels [R] what each shows; C for background
 * @param weights [R] 1, or 0 for the one that stands in for none
 * @param positives [P] positions of the positive regions, ascending
 * @param objects [P] what they should find: boxes, labels and, where there are any, masks
 * @param repeated [R] whether the region is a copy of an object
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
record RoiSamples(
        Rois rois,
        int[] labels,
        float[] weights,
        int[] positives,
        List<Instances> objects,
        boolean[] repeated) {

    /**
     * Joins what was drawn of the images of a batch.
     *
     * @param background the label C
     */
    static RoiSamples join(List<OfImage> images, int background) {
        Rois rois = Rois.of(images.stream().map(OfImage::boxes).toList());
        if (rois.size() == 0) {
            Rois standIn = new Rois(Boxes.of(0, 0, 1, 1), new int[1]);
            int[] labels = {background};
            boolean[] repeated = {false};
            return new RoiSamples(standIn, labels, new float[1], new int[0], List.of(), repeated);
        }
        int[] labels = new int[rois.size()];
        Arrays.fill(labels, background);
        float[] weights = new float[rois.size()];
        Arrays.fill(weights, 1);
        boolean[] repeated = new boolean[rois.size()];
        IntStream.Builder positives = IntStream.builder();
        ImmutableList.Builder<Instances> learned = ImmutableList.builder();
        int first = 0;
        for (OfImage image : images) {
            for (int i = 0; i < image.learned.size(); i++) {
                labels[first + i] = image.learned.label(i);
                repeated[first + i] = image.repeated[i];
                positives.add(first + i);
            }
            learned.add(image.learned);
            first += image.boxes.size();
        }
        return new RoiSamples(
                rois, labels, weights, positives.build().toArray(), learned.build(), repeated);
    }

    /** Returns the number of regions that count, at least 1. */
    int number() {
        return weights[0] == 0 ? 1 : weights.length;
    }

    /** Returns the boxes that the positive regions should find, [P]. */
    Boxes targets() {
        return Boxes.concat(objects.stream().map(Instances::boxes).toList());
    }

    /** Returns the masks that the positive regions should find, [P]. */
    List<Rle> masks() {
        return objects.stream()
                .flatMap(learned -> learned.masks().stream())
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns the labels of the positive regions, [P]. */
    int[] positiveLabels() {
        return Arrays.stream(positives).map(i -> labels[i]).toArray();
    }

    /**
     * What was drawn of one image.
     *
     * @param boxes the regions
     * @param learned the objects that the first of them should find
     * @param repeated whether each of these is a copy of an object
     */
    record OfImage(Boxes boxes, Instances learned, boolean[] repeated) {}
}
