package dev.saccade.heads.anchor;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What every anchor of a batch should learn.
 *
 * @param levels by level
 * @param avgFactor what sums of losses are divided by: the number of anchors that count, at least 1
 *     for every image
 */
public record AnchorTargets(List<Level> levels, float avgFactor) {

    /**
     * The anchors of one level, image after image.
     *
     * @param labels {@code [N * H * W * A]}: the class, or C for background
     * @param labelWeights {@code [N * H * W * A]}: 0 for anchors that are not trained, else 1
     * @param positives {@code [P]} positions of anchors that should find an object, ascending
     * @param anchors {@code [P]} these anchors
     * @param boxes {@code [P]} the boxes they should find
     */
    @SuppressWarnings("ArrayRecordComponent") // goes to the device as it is
    public record Level(
            int[] labels, float[] labelWeights, int[] positives, Boxes anchors, Boxes boxes) {}

    /** Collects what the images of a batch have to teach. */
    static final class Builder {

        private final List<LevelBuilder> levels = new ArrayList<>();
        private int avgFactor;

        /**
         * Starts with anchors that are not trained.
         *
         * @param background C
         */
        Builder(AnchorGrid grid, int images, int background) {
            for (int l = 0; l < grid.levels(); l++) {
                levels.add(new LevelBuilder(grid, l, images, background));
            }
        }

        /**
         * Adds an image, in the order of the batch.
         *
         * @param positives [P] anchors that should find an object, ascending
         * @param objects [P] what they should find
         * @param negatives anchors that should see background, ascending
         * @param weight how much of the {@link #avgFactor} is of this image
         */
        void add(int[] positives, Instances objects, int[] negatives, int weight) {
            levels.forEach(level -> level.add(positives, objects, negatives));
            avgFactor += weight;
        }

        AnchorTargets build() {
            return new AnchorTargets(
                    levels.stream()
                            .map(LevelBuilder::build)
                            .collect(ImmutableList.toImmutableList()),
                    avgFactor);
        }
    }

    private static final class LevelBuilder {

        private final AnchorGrid grid;
        private final int start;
        private final int end;
        private final int[] labels;
        private final float[] weights;
        private final List<int[]> positives = new ArrayList<>();
        private final List<Boxes> anchors = new ArrayList<>();
        private final List<Boxes> boxes = new ArrayList<>();

        LevelBuilder(AnchorGrid grid, int level, int images, int background) {
            this.grid = grid;
            start = grid.start(level);
            end = grid.start(level + 1);
            labels = new int[images * (end - start)];
            Arrays.fill(labels, background);
            weights = new float[labels.length];
        }

        void add(int[] allPositives, Instances objects, int[] allNegatives) {
            int shift = positives.size() * (end - start) - start;
            for (int i : within(allNegatives)) {
                weights[i + shift] = 1;
            }
            int[] learning = within(allPositives);
            int first = AnchorGrid.countBelow(allPositives, start);
            int[] shifted = new int[learning.length];
            int[] learned = new int[learning.length];
            for (int k = 0; k < learning.length; k++) {
                shifted[k] = learning[k] + shift;
                learned[k] = first + k;
                weights[shifted[k]] = 1;
                labels[shifted[k]] = objects.label(learned[k]);
            }
            positives.add(shifted);
            anchors.add(grid.anchors().select(learning));
            boxes.add(objects.boxes().select(learned));
        }

        private int[] within(int[] positions) {
            return Arrays.copyOfRange(
                    positions,
                    AnchorGrid.countBelow(positions, start),
                    AnchorGrid.countBelow(positions, end));
        }

        Level build() {
            return new Level(
                    labels,
                    weights,
                    Ints.concat(positives.toArray(int[][]::new)),
                    Boxes.concat(anchors),
                    Boxes.concat(boxes));
        }
    }
}
