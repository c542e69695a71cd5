package dev.saccade.heads;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Floats;
import com.google.common.primitives.Ints;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What every anchor of a batch should learn.
 *
 * @param levels by level
 * @param positives number of positive anchors, at least 1 for every image
 */
record RetinaNetTargets(List<Level> levels, int positives) {

    /**
     * The anchors of one level, image after image.
     *
     * @param labels {@code [N * H * W * A]}: the class, or C for background
     * @param weights {@code [N * H * W * A]}: 0 for anchors that are not trained, else 1
     * @param positives {@code [P]} positions of positive anchors, ascending
     * @param deltas {@code [P * 4]} the changes they should predict
     */
    @SuppressWarnings("ArrayRecordComponent") // goes to the device as it is
    record Level(int[] labels, float[] weights, int[] positives, float[] deltas) {}

    static RetinaNetTargets of(
            AnchorGrid grid,
            MaxIouAssigner assigner,
            BoxCoder coder,
            List<ImageInfo> images,
            List<Instances> targets,
            int numClasses) {
        List<Builder> builders = new ArrayList<>();
        for (int l = 0; l < grid.levels(); l++) {
            int anchors = grid.start(l + 1) - grid.start(l);
            builders.add(new Builder(anchors * images.size(), numClasses));
        }
        int positives = 0;
        for (int n = 0; n < images.size(); n++) {
            Instances objects = targets.get(n).withArea();
            Matches matches = grid.match(images.get(n), -1, assigner, objects.boxes());
            positives += Math.max(1, matches.positives().length);
            for (int l = 0; l < grid.levels(); l++) {
                builders.get(l).add(n, grid, l, matches, objects, coder);
            }
        }
        return new RetinaNetTargets(
                builders.stream().map(Builder::build).collect(ImmutableList.toImmutableList()),
                positives);
    }

    private static final class Builder {

        private final int[] labels;
        private final float[] weights;
        private final List<int[]> positives = new ArrayList<>();
        private final List<float[]> deltas = new ArrayList<>();

        Builder(int size, int background) {
            labels = new int[size];
            Arrays.fill(labels, background);
            weights = new float[size];
        }

        /** Adds the anchors of a level of image {@code n}. */
        void add(
                int n,
                AnchorGrid grid,
                int level,
                Matches matches,
                Instances objects,
                BoxCoder coder) {
            int start = grid.start(level);
            int end = grid.start(level + 1);
            int shift = n * (end - start) - start;
            for (int i : matches.negatives()) {
                if (i >= start && i < end) {
                    weights[i + shift] = 1;
                }
            }
            int from = insertion(matches.positives(), start);
            int to = insertion(matches.positives(), end);
            int[] anchors = Arrays.copyOfRange(matches.positives(), from, to);
            int[] learned = Arrays.copyOfRange(matches.objects(), from, to);
            for (int k = 0; k < anchors.length; k++) {
                weights[anchors[k] + shift] = 1;
                labels[anchors[k] + shift] = objects.label(learned[k]);
            }
            positives.add(Arrays.stream(anchors).map(i -> i + shift).toArray());
            deltas.add(
                    coder.encode(grid.anchors().select(anchors), objects.boxes().select(learned)));
        }

        private static int insertion(int[] sorted, int value) {
            int found = Arrays.binarySearch(sorted, value);
            return found < 0 ? -found - 1 : found;
        }

        Level build() {
            return new Level(
                    labels,
                    weights,
                    Ints.concat(positives.toArray(int[][]::new)),
                    Floats.concat(deltas.toArray(float[][]::new)));
        }
    }
}
