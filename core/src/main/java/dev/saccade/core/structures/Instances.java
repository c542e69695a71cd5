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
 * Objects of an image: boxes, labels and optional scores and masks.
 *
 * <p>Labels start at 0 and never include background. Ground truth has no scores. Predictions are
 * sorted by descending score. {@link #mapBoxes} does not transform masks.
 *
 * @param labels class indices
 * @param scores in [0, 1], descending; empty for ground truth
 * @param masks of the image size, or empty
 * @param ignored regions excluded from training, such as crowds, in the coordinates of the boxes
 *     (mmdetection's {@code gt_bboxes_ignore}); not counted by {@link #size}
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record Instances(Boxes boxes, int[] labels, float[] scores, List<Rle> masks, Boxes ignored) {

    private static final Instances EMPTY = groundTruth(Boxes.empty());

    public Instances {
        masks = ImmutableList.copyOf(masks);
        checkArgument(
                boxes.size() == labels.length
                        && (scores.length == 0 || scores.length == labels.length)
                        && (masks.isEmpty() || masks.size() == labels.length),
                "got %s boxes, %s labels, %s scores and %s masks, expected equal numbers",
                boxes.size(),
                labels.length,
                scores.length,
                masks.size());
    }

    public static Instances empty() {
        return EMPTY;
    }

    /** Creates ground truth; labels start at 0. */
    public static Instances groundTruth(Boxes boxes, int... labels) {
        return new Instances(boxes, labels.clone(), new float[0], List.of(), Boxes.empty());
    }

    /** Creates predictions; labels start at 0, scores in [0, 1] are descending. */
    public static Instances predicted(Boxes boxes, int[] labels, float[] scores) {
        checkArgument(
                labels.length == scores.length,
                "got %s labels but %s scores",
                labels.length,
                scores.length);
        return new Instances(boxes, labels.clone(), scores.clone(), List.of(), Boxes.empty());
    }

    /** Concatenates ground truth and ignored regions. */
    public static Instances concat(List<Instances> lists) {
        List<Rle> masks = new ArrayList<>();
        lists.forEach(each -> masks.addAll(each.masks));
        return groundTruth(
                        Boxes.concat(lists.stream().map(Instances::boxes).toList()),
                        Ints.concat(arrays(lists, each -> each.labels, int[][]::new)))
                .withMasks(masks)
                .withIgnored(Boxes.concat(lists.stream().map(Instances::ignored).toList()));
    }

    /**
     * Merges predictions of an image, for example from test-time augmentation, by NMS per class.
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

    public int size() {
        return labels.length;
    }

    public int label(int i) {
        return labels[i];
    }

    /** Returns a copy of the labels, {@code [N]}. */
    @Override
    public int[] labels() {
        return labels.clone();
    }

    /** Returns a copy of the scores, {@code [N]}; empty for ground truth. */
    @Override
    public float[] scores() {
        return scores.clone();
    }

    /** Returns whether there are scores and at least one object. */
    public boolean hasScores() {
        return scores.length > 0;
    }

    public float score(int i) {
        return scores[i];
    }

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

    /** Removes objects and ignored regions whose boxes have no area. */
    public Instances withArea() {
        return select(positionsWithArea(boxes))
                .withIgnored(ignored.select(positionsWithArea(ignored)));
    }

    private static int[] positionsWithArea(Boxes boxes) {
        return IntStream.range(0, boxes.size())
                .filter(i -> boxes.width(i) > 0 && boxes.height(i) > 0)
                .toArray();
    }

    /** Transforms all boxes, including the ignored regions. */
    public Instances mapBoxes(UnaryOperator<Boxes> change) {
        return new Instances(change.apply(boxes), labels, scores, masks, change.apply(ignored));
    }

    /** Replaces the ignored regions, given in the coordinates of the boxes. */
    public Instances withIgnored(Boxes regions) {
        return new Instances(boxes, labels, scores, masks, regions);
    }

    /** Replaces the masks, which have the image size; an empty list removes them. */
    public Instances withMasks(List<Rle> outlines) {
        return new Instances(boxes, labels, scores, outlines, ignored);
    }

    /** Transforms all masks; boxes must be transformed separately. */
    public Instances mapMasks(UnaryOperator<Rle> change) {
        return withMasks(masks.stream().map(change).toList());
    }

    /** Recomputes boxes as bounding boxes of the masks and removes objects with empty masks. */
    public Instances boxesFromMasks() {
        Boxes tight = Boxes.concat(masks.stream().map(Instances::bounds).toList());
        Instances boxed = new Instances(tight, labels, scores, masks, ignored);
        return boxed.select(positionsWithArea(tight));
    }

    private static Boxes bounds(Rle mask) {
        Rle.Bounds box = mask.bounds();
        return Boxes.of(box.x(), box.y(), box.x() + box.width(), box.y() + box.height());
    }

    /**
     * Removes objects and ignored regions that a crop or warp left without area. Boxes of objects
     * with masks become the tightest around their masks.
     */
    public Instances visible() {
        return (hasMasks() ? boxesFromMasks() : this).withArea();
    }

    /** Returns whether there are masks and at least one object. */
    public boolean hasMasks() {
        return !masks.isEmpty();
    }

    public Rle mask(int i) {
        return masks.get(i);
    }

    /** Omits masks because they are long. */
    @Override
    public String toString() {
        return Text.format(
                "Instances[labels=%s, scores=%s, %s, ignored=%s]",
                Arrays.toString(labels), Arrays.toString(scores), boxes, ignored);
    }
}
