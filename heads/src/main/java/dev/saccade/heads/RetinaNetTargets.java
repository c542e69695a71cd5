package dev.saccade.heads;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Floats;
import com.google.common.primitives.Ints;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

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
            AnchorGenerator generator,
            MaxIouAssigner assigner,
            BoxCoder coder,
            List<Size> grids,
            List<ImageInfo> images,
            List<Instances> targets,
            int numClasses) {
        int levels = grids.size();
        int cell = generator.anchorsPerCell();
        List<Boxes> anchors = new ArrayList<>();
        for (int l = 0; l < levels; l++) {
            anchors.add(generator.anchors(l, grids.get(l)));
        }
        List<Builder> builders = new ArrayList<>();
        for (Boxes level : anchors) {
            builders.add(new Builder(level.size() * images.size(), numClasses));
        }
        int positives = 0;
        for (int i = 0; i < images.size(); i++) {
            List<int[]> valid = new ArrayList<>();
            for (int l = 0; l < levels; l++) {
                Size grid = grids.get(l);
                valid.add(cells(grid, generator.validGrid(l, grid, images.get(i).padded()), cell));
            }
            positives +=
                    Math.max(
                            1,
                            assign(
                                    assigner,
                                    coder,
                                    anchors,
                                    valid,
                                    i,
                                    withArea(targets.get(i)),
                                    builders));
        }
        return new RetinaNetTargets(
                builders.stream().map(Builder::build).collect(ImmutableList.toImmutableList()),
                positives);
    }

    /** Returns the positions of the anchors in the valid part of a grid. */
    private static int[] cells(Size grid, Size valid, int anchorsPerCell) {
        int[] positions = new int[Math.toIntExact(valid.area()) * anchorsPerCell];
        int at = 0;
        for (int y = 0; y < valid.height(); y++) {
            int start = y * grid.width() * anchorsPerCell;
            for (int a = 0; a < valid.width() * anchorsPerCell; a++) {
                positions[at++] = start + a;
            }
        }
        return positions;
    }

    private static int assign(
            MaxIouAssigner assigner,
            BoxCoder coder,
            List<Boxes> anchors,
            List<int[]> valid,
            int image,
            Instances target,
            List<Builder> builders) {
        float[][] candidates = new float[anchors.size()][];
        for (int l = 0; l < anchors.size(); l++) {
            candidates[l] = anchors.get(l).select(valid.get(l)).toArray();
        }
        Boxes all = Boxes.of(Floats.concat(candidates));
        int[] gtIndex = assigner.assign(all, target.boxes(), Boxes.empty()).gtIndex();
        int[] positive = IntStream.range(0, gtIndex.length).filter(n -> gtIndex[n] > 0).toArray();
        int[] gt = Arrays.stream(positive).map(n -> gtIndex[n] - 1).toArray();
        float[] deltas = coder.encode(all.select(positive), target.boxes().select(gt));
        int next = 0;
        int offset = 0;
        for (int l = 0; l < anchors.size(); l++) {
            Builder builder = builders.get(l);
            int first = image * anchors.get(l).size();
            int[] positions = valid.get(l);
            for (int a = 0; a < positions.length; a++) {
                int assigned = gtIndex[offset + a];
                if (assigned >= 0) {
                    builder.weights[first + positions[a]] = 1;
                }
                if (assigned > 0) {
                    builder.positive(
                            first + positions[a], target.label(assigned - 1), deltas, next++);
                }
            }
            offset += positions.length;
        }
        return positive.length;
    }

    /** A box without area overlaps no anchor, so it would be learned by all of them. */
    private static Instances withArea(Instances target) {
        Boxes boxes = target.boxes();
        return target.select(
                IntStream.range(0, target.size())
                        .filter(i -> boxes.width(i) > 0 && boxes.height(i) > 0)
                        .toArray());
    }

    private static final class Builder {

        private final int[] labels;
        private final float[] weights;
        private final List<Integer> positives = new ArrayList<>();
        private final List<Float> deltas = new ArrayList<>();

        Builder(int size, int background) {
            labels = new int[size];
            Arrays.fill(labels, background);
            weights = new float[size];
        }

        void positive(int position, int label, float[] allDeltas, int index) {
            labels[position] = label;
            positives.add(position);
            for (int t = 0; t < 4; t++) {
                deltas.add(allDeltas[4 * index + t]);
            }
        }

        Level build() {
            return new Level(labels, weights, Ints.toArray(positives), Floats.toArray(deltas));
        }
    }
}
