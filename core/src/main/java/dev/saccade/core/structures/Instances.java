package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Floats;
import com.google.common.primitives.Ints;

import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * The objects of one image: boxes with labels, scores where they were predicted, and masks where
 * they are asked for; beside them the regions in which nothing should be learned.
 *
 * <p>Labels count from 0; background is never an instance. Ground truth has no scores. Predictions
 * come in descending order of score. Masks are of the image that the boxes lie in and say more than
 * these: they are not moved along by {@link #mapBoxes}.
 *
 * @param labels class indices of the objects
 * @param scores in [0, 1], descending; empty for ground truth
 * @param masks of the size of the image, or empty
 * @param ignored regions in which nothing should be learned, such as crowds, in the coordinates of
 *     the boxes (mmdetection's {@code gt_bboxes_ignore}); they count in no {@link #size}
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record Instances(Boxes boxes, int[] labels, float[] scores, List<Rle> masks, Boxes ignored) {

    private static final Instances EMPTY = groundTruth(Boxes.empty());

    /** Checks that the sizes fit. */
    public Instances {
        masks = ImmutableList.copyOf(masks);
        checkArgument(
                boxes.size() == labels.length
                        && (scores.length == 0 || scores.length == labels.length)
                        && (masks.isEmpty() || masks.size() == labels.length),
                "%s boxes, %s labels, %s scores and %s masks",
                boxes.size(),
                labels.length,
                scores.length,
                masks.size());
    }

    /** Returns an image without objects. */
    public static Instances empty() {
        return EMPTY;
    }

    /**
     * Returns labeled objects.
     *
     * @param boxes [N] boxes
     * @param labels [N] labels from 0; copied
     */
    public static Instances groundTruth(Boxes boxes, int... labels) {
        return new Instances(boxes, labels.clone(), new float[0], List.of(), Boxes.empty());
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
                labels.length == scores.length,
                "%s labels but %s scores",
                labels.length,
                scores.length);
        return new Instances(boxes, labels.clone(), scores.clone(), List.of(), Boxes.empty());
    }

    /**
     * Merges predictions for one image, such as those of several views: best first, without objects
     * that overlap a better one of their class.
     *
     * @param iouThreshold the largest IoU of two objects of a class that are both kept
     */
    public static Instances merge(List<Instances> predictions, double iouThreshold) {
        List<Rle> masks = new ArrayList<>();
        predictions.forEach(each -> masks.addAll(each.masks));
        Instances all =
                predicted(
                                Boxes.concat(predictions.stream().map(Instances::boxes).toList()),
                                Ints.concat(arrays(predictions, each -> each.labels, int[][]::new)),
                                Floats.concat(
                                        arrays(predictions, each -> each.scores, float[][]::new)))
                        .withMasks(masks);
        List<Integer> kept = new ArrayList<>();
        IntStream.range(0, all.size())
                .boxed()
                .sorted(Comparator.comparingDouble(i -> -all.scores[i]))
                .filter(i -> kept.stream().noneMatch(k -> all.overlaps(i, k, iouThreshold)))
                .forEach(kept::add);
        return all.select(Ints.toArray(kept));
    }

    private static <A> A[] arrays(
            List<Instances> lists, Function<Instances, A> array, IntFunction<A[]> create) {
        return lists.stream().map(array).toArray(create);
    }

    private boolean overlaps(int i, int j, double iouThreshold) {
        return labels[i] == labels[j] && boxes.iou(i, j) > iouThreshold;
    }

    /** Returns the number of objects. */
    public int size() {
        return labels.length;
    }

    /** Returns the label of object {@code i}, from 0. */
    public int label(int i) {
        return labels[i];
    }

    /** Returns a copy of the labels, [N]. */
    @Override
    public int[] labels() {
        return labels.clone();
    }

    /** Returns a copy of the scores, [N], or an empty array for ground truth. */
    @Override
    public float[] scores() {
        return scores.clone();
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
        List<Rle> selectedMasks =
                masks.isEmpty() ? masks : Arrays.stream(positions).mapToObj(masks::get).toList();
        return new Instances(
                boxes.select(positions), selectedLabels, selectedScores, selectedMasks, ignored);
    }

    /**
     * Returns the objects whose boxes have an area, for of others nothing can be learned, and the
     * ignored regions that have one.
     */
    public Instances withArea() {
        return select(positionsWithArea(boxes))
                .withIgnored(ignored.select(positionsWithArea(ignored)));
    }

    private static int[] positionsWithArea(Boxes boxes) {
        return IntStream.range(0, boxes.size())
                .filter(i -> boxes.width(i) > 0 && boxes.height(i) > 0)
                .toArray();
    }

    /**
     * Returns the same objects in other coordinates: all boxes changed, those of the ignored
     * regions, too.
     *
     * @param change such as a scale; gives as many boxes as it is given
     */
    public Instances mapBoxes(UnaryOperator<Boxes> change) {
        return new Instances(change.apply(boxes), labels, scores, masks, change.apply(ignored));
    }

    /**
     * Returns the same objects beside other ignored regions.
     *
     * @param regions in the coordinates of the boxes
     */
    public Instances withIgnored(Boxes regions) {
        return new Instances(boxes, labels, scores, masks, regions);
    }

    /**
     * Returns the same objects with other masks.
     *
     * @param outlines [N] masks of the size of the image, or none to leave them out
     */
    public Instances withMasks(List<Rle> outlines) {
        return new Instances(boxes, labels, scores, outlines, ignored);
    }

    /**
     * Returns the same objects, with every mask changed, if there are any.
     *
     * @param change such as a crop, in which the boxes must be moved by themselves
     */
    public Instances mapMasks(UnaryOperator<Rle> change) {
        return withMasks(masks.stream().map(change).toList());
    }

    /**
     * Returns the objects of which the masks have a pixel, each with the smallest box around its
     * mask.
     *
     * @throws IllegalArgumentException if there are objects without masks
     */
    public Instances boxesFromMasks() {
        Boxes tight = Boxes.concat(masks.stream().map(Instances::bounds).toList());
        Instances boxed = new Instances(tight, labels, scores, masks, ignored);
        return boxed.select(positionsWithArea(tight));
    }

    private static Boxes bounds(Rle mask) {
        Rle.Bounds box = mask.bounds();
        return Boxes.of(box.x(), box.y(), box.x() + box.width(), box.y() + box.height());
    }

    /** Returns whether there are masks: one an object, and at least one object. */
    public boolean hasMasks() {
        return !masks.isEmpty();
    }

    /** Returns the mask of object {@code i}. */
    public Rle mask(int i) {
        return masks.get(i);
    }

    /** Masks are left out because they are long. */
    @Override
    public String toString() {
        return Text.format(
                "Instances[labels=%s, scores=%s, %s, ignored=%s]",
                Arrays.toString(labels), Arrays.toString(scores), boxes, ignored);
    }
}
