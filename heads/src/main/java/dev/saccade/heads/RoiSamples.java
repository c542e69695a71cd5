package dev.saccade.heads;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.nn.SampleDraws;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Rois;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
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
     * Draws regions.
     *
     * @param proposals of each image
     * @param objects of each image, boxes without area left out
     * @param draws tells the draws from those of all other layers
     * @param background C
     */
    static RoiSamples of(
            MaxIouAssigner assigner,
            RandomSampler sampler,
            List<Boxes> proposals,
            List<Instances> objects,
            long draws,
            int background) {
        List<OfImage> images = new ArrayList<>();
        for (int n = 0; n < proposals.size(); n++) {
            images.add(
                    OfImage.of(
                            assigner,
                            sampler,
                            proposals.get(n),
                            objects.get(n),
                            SampleDraws.of(n, draws)));
        }
        return join(images, background);
    }

    private static RoiSamples join(List<OfImage> images, int background) {
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
    private record OfImage(Boxes boxes, Instances learned, boolean[] repeated) {

        static OfImage of(
                MaxIouAssigner assigner,
                RandomSampler sampler,
                Boxes proposals,
                Instances objects,
                SplittableRandom random) {
            int[] assigned = assigner.assign(proposals, objects.boxes(), Boxes.empty()).gtIndex();
            Boxes candidates = proposals;
            int copies = sampler.addGtAsProposals() ? objects.size() : 0;
            if (copies > 0) {
                candidates = Boxes.concat(List.of(objects.boxes(), proposals));
                assigned =
                        IntStream.concat(IntStream.rangeClosed(1, copies), Arrays.stream(assigned))
                                .toArray();
            }
            int[] all = IntStream.range(0, assigned.length).toArray();
            Matches drawn = Matches.of(all, assigned).sample(sampler, random);
            boolean[] repeated = new boolean[drawn.positives().length];
            for (int i = 0; i < repeated.length; i++) {
                repeated[i] = drawn.positives()[i] < copies;
            }
            return new OfImage(
                    Boxes.concat(
                            List.of(
                                    candidates.select(drawn.positives()),
                                    candidates.select(drawn.negatives()))),
                    objects.select(drawn.objects()),
                    repeated);
        }
    }
}
