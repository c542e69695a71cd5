package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Arrays;

/**
 * The objects of one image: boxes with labels, and scores where they were predicted.
 *
 * <p>Labels count from 0; background is never an instance. Ground truth has no scores. Predictions
 * come in descending order of score.
 */
public final class Instances {

    private static final Instances EMPTY = new Instances(Boxes.empty(), new int[0], new float[0]);

    private final Boxes boxes;
    private final int[] labels;
    private final float[] scores;

    private Instances(Boxes boxes, int[] labels, float[] scores) {
        this.boxes = boxes;
        this.labels = labels;
        this.scores = scores;
    }

    /** Returns an image without objects. */
    public static Instances empty() {
        return EMPTY;
    }

    /**
     * Returns labelled objects.
     *
     * @param boxes [N] boxes
     * @param labels [N] labels from 0; copied
     */
    public static Instances groundTruth(Boxes boxes, int... labels) {
        checkArgument(
                boxes.size() == labels.length,
                "%s boxes but %s labels",
                boxes.size(),
                labels.length);
        return new Instances(boxes, labels.clone(), new float[0]);
    }

    /**
     * Returns predicted objects.
     *
     * @param boxes [N] boxes
     * @param labels [N] labels from 0; copied
     * @param scores [N] scores in [0, 1], descending; copied
     */
    public static Instances predicted(Boxes boxes, int[] labels, float[] scores) {
        checkArgument(
                boxes.size() == labels.length && labels.length == scores.length,
                "%s boxes but %s labels and %s scores",
                boxes.size(),
                labels.length,
                scores.length);
        return new Instances(boxes, labels.clone(), scores.clone());
    }

    /** Returns the number of objects. */
    public int size() {
        return labels.length;
    }

    /** Returns the boxes, [N]. */
    public Boxes boxes() {
        return boxes;
    }

    /** Returns the label of object {@code i}, from 0. */
    public int label(int i) {
        return labels[i];
    }

    /** Returns a copy of the labels, [N]. */
    public int[] labels() {
        return labels.clone();
    }

    /** Returns whether there are scores: these are predictions, and at least one. */
    public boolean hasScores() {
        return scores.length > 0;
    }

    /** Returns the score of predicted object {@code i}. */
    public float score(int i) {
        return scores[i];
    }

    /** Returns the objects at the given positions, in their order. */
    public Instances select(int... positions) {
        int[] selectedLabels = Arrays.stream(positions).map(i -> labels[i]).toArray();
        float[] selectedScores = new float[scores.length == 0 ? 0 : positions.length];
        for (int k = 0; k < selectedScores.length; k++) {
            selectedScores[k] = scores[positions[k]];
        }
        return new Instances(boxes.select(positions), selectedLabels, selectedScores);
    }

    /** Returns the same objects with other boxes, [N]. */
    public Instances withBoxes(Boxes moved) {
        checkArgument(
                moved.size() == labels.length, "%s boxes for %s", moved.size(), labels.length);
        return new Instances(moved, labels, scores);
    }

    @Override
    public String toString() {
        return "Instances[labels="
                + Arrays.toString(labels)
                + ", scores="
                + Arrays.toString(scores)
                + ", "
                + boxes
                + "]";
    }
}
