package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.Ints;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.vision.MaskPaste;
import dev.saccade.core.ops.vision.MaskStyle;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ImageMetas;
import dev.saccade.heads.box.Positions;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Inference of a {@link TwoStageHead}. As in mmdetection's {@code aug_test}, the views of an image
 * share proposals, and their predictions are averaged.
 *
 * @param views one batch, or several views of one image to merge
 */
record TwoStageInference(TwoStageHead head, List<View> views, boolean merges) {

    private record View(
            FeaturePyramid features,
            FeaturePyramid roiFeatures,
            List<ImageInfo> images,
            ImageMetas metas) {}

    /**
     * Writes boxes and scores of valid regions to their positions among all regions. All other
     * regions score minus infinity.
     */
    private static final Script SCATTER_VALID =
            Script.compile(
                    "(boxes: Tensor, scores: Tensor, indices: Tensor, weights: Tensor,"
                            + " there: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    b = torch.size(there, 0)
                    m = torch.size(there, 1)
                    k = torch.size(boxes, 1)
                    none = torch.log(torch.zeros([1, 1], dtype=6, device=boxes.device))
                    known = torch.unsqueeze(torch.gt(weights, 0), 1)
                    corners = boxes
                    given = torch.where(known, scores, none)
                    if torch.size(indices, 0) < b * m:
                      corners = torch.zeros([b * m, k, 4], dtype=6, device=boxes.device)
                      corners = torch.index_copy(corners, 0, indices, boxes)
                      all = torch.contiguous(torch.expand(none, [b * m, torch.size(scores, 1)]))
                      given = torch.index_copy(all, 0, indices, given)
                    return (torch.reshape(corners, [b, m * k, 4]), torch.reshape(given, [b, m, torch.size(scores, 1)]))
                    """);

    /** Resets the given regions to their proposals, with equal scores for all classes. */
    private static final ScriptTemplate RESTORE_BOXES =
            ScriptTemplate.of(
                    "(boxes: Tensor, scores: Tensor, regions: Tensor, indices: Tensor,"
                            + " weights: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    of_box = torch.reshape(boxes, [-1, {boxes}, 4])
                    region = torch.index_select(torch.reshape(regions, [-1, 1, 4]), 0, indices)
                    known = torch.reshape(torch.gt(weights, 0), [-1, 1])
                    stays = torch.unsqueeze(known, 2)
                    corners = torch.where(stays, region, torch.index_select(of_box, 0, indices))
                    of_class = torch.flatten(scores, 0, 1)
                    equal_scores = torch.masked_fill(torch.index_select(of_class, 0, indices), known, {score})
                    of_box = torch.index_copy(of_box, 0, indices, corners)
                    of_class = torch.index_copy(of_class, 0, indices, equal_scores)
                    return (torch.reshape(of_box, torch.size(boxes)), torch.reshape(of_class, torch.size(scores)))
                    """);

    private static final Script IMAGE_INDICES =
            Script.compile(
                    "(labels: Tensor) -> Tensor",
                    """
                    m = torch.size(labels, 1)
                    every = torch.arange(torch.size(labels, 0) * m, dtype=4, device=labels.device)
                    return torch.floor_divide(every, m)
                    """);

    static TwoStageInference of(
            TwoStageHead head, FeaturePyramid features, List<ImageInfo> images) {
        ImageMetas metas = ImageMetas.of(features.get(0).getManager(), images);
        return new TwoStageInference(head, List.of(view(head, features, images, metas)), false);
    }

    static TwoStageInference ofAugmented(
            TwoStageHead head, List<FeaturePyramid> views, List<ImageInfo> images) {
        List<View> all = new ArrayList<>();
        for (int v = 0; v < views.size(); v++) {
            all.addAll(of(head, views.get(v), List.of(images.get(v))).views);
        }
        return new TwoStageInference(head, all, true);
    }

    static TwoStageInference ofSizes(TwoStageHead head, FeaturePyramid features, NDArray sizes) {
        ImageMetas metas = ImageMetas.ofSizes(sizes);
        return new TwoStageInference(head, List.of(view(head, features, List.of(), metas)), false);
    }

    private static View view(
            TwoStageHead head, FeaturePyramid features, List<ImageInfo> images, ImageMetas metas) {
        return new View(features, head.roiFeatures(features), images, metas);
    }

    /** Returns the detections of each image, in the coordinates of the original image. */
    List<Instances> predict() {
        List<Instances> found = detect().toInstances();
        return head.config().hasMasks() ? withMasks(found) : found;
    }

    NDList predictArrays() {
        Detections found = detect();
        NDList arrays = found.list();
        if (head.config().hasMasks()) {
            long images = found.counts().size();
            NDArray labels = found.labels().flatten();
            Rois rois = new Rois(found.boxes().reshape(-1, 4), IMAGE_INDICES.run(found.labels()));
            NDArray masks = head.masks().probabilities(views.get(0).roiFeatures, rois, labels);
            int side = maskSize(head);
            arrays.add(masks.reshape(images, -1, side, side));
        }
        return arrays;
    }

    static List<Instances> toInstances(TwoStageHead head, NDList arrays, List<ImageInfo> images) {
        List<Instances> found = Detections.of(arrays).toInstances(images);
        if (!head.config().hasMasks()) {
            return found;
        }
        float[] masks = Tensors.readFloats(arrays.get(4));
        int perImage = masks.length / images.size();
        List<Instances> withMasks = new ArrayList<>();
        for (int n = 0; n < images.size(); n++) {
            Boxes boxes = rounded(images.get(n), found.get(n).boxes());
            Size size = images.get(n).original();
            withMasks.add(withMasks(head, found.get(n), boxes, masks, n * perImage, size));
        }
        return withMasks;
    }

    private Detections detect() {
        View first = views.get(0);
        Detections proposals =
                merges
                        ? head.rpn()
                                .proposals(
                                        views.stream().map(View::features).toList(),
                                        views.stream().map(View::metas).toList())
                        : head.rpn().proposals(first.features, first.metas);
        List<ScoredBoxes> scored = new ArrayList<>();
        for (View view : views) {
            Detections located = merges ? proposals.mapBoxes(view.metas::fromOriginal) : proposals;
            ScoredBoxes boxes =
                    Scope.call(
                            () -> score(view, located),
                            each -> List.of(each.boxes(), each.scores()));
            if (!merges && head.stages().size() == 1) {
                boxes = withoutPadding(boxes, located);
            }
            boxes = boxes.suppressSmall(head.config().minBboxSize());
            scored.add(boxes.mapBoxes(view.metas::toOriginal));
        }
        return head.config().nms().apply(ScoredBoxes.mean(scored)).detections();
    }

    /**
     * Refines and scores proposals in all stages. Returns boxes and scores of all classes, in the
     * coordinates of the view; invalid proposals score minus infinity.
     */
    private ScoredBoxes score(View view, Detections proposals) {
        NDArray valid = proposals.validMask();
        Positions found = Positions.where(valid.reshape(-1));
        NDArray boxesOfAll = proposals.boxes().reshape(-1, 4);
        Rois rois = new Rois(found.select(boxesOfAll), proposals.imageIndices(found.indices()));
        NDArray logits = null;
        BoxHead.Output output = null;
        for (RoiStage stage : head.stages()) {
            output = head.forward(stage, view.roiFeatures, rois, Optional.empty());
            logits = logits == null ? output.logits() : logits.add(output.logits());
            if (!head.isLast(stage)) {
                NDArray refined = stage.box().refine(output, rois.boxes());
                rois = new Rois(view.metas.clip(refined, rois.images()), rois.images());
            }
        }
        NDArray mean = Functional.div(logits, head.stages().size());
        NDArray scores = Functional.slice(Functional.softmax(mean, 1), 1, 0, -1);
        NDArray deltas = output.deltas();
        NDArray boxes =
                head.lastStage()
                        .box()
                        .coder()
                        .decode(
                                rois.boxes().expandDims(1),
                                deltas.reshape(rois.size(), deltas.getShape().get(1) / 4, 4));
        NDList all = SCATTER_VALID.runAll(boxes, scores, found.indices(), found.weights(), valid);
        return new ScoredBoxes(view.metas.clip(all.get(0)), all.get(1));
    }

    /**
     * Returns a copy in which proposals with bottom edge y = 0 keep their boxes and get equal
     * scores for all classes: mmdetection's Mask R-CNN treats them as batch padding.
     */
    private ScoredBoxes withoutPadding(ScoredBoxes scored, Detections proposals) {
        long boxes = scored.boxes().getShape().get(1) / Math.max(1, scored.size());
        NDArray isAtTop = Functional.eq(proposals.boxes().get("..., 3"), 0);
        Positions stay = Positions.where(isAtTop.logicalAnd(proposals.validMask()).reshape(-1));
        float score = 1f / (head.numClasses() + 1);
        NDList changed =
                RESTORE_BOXES
                        .with(Map.of("boxes", Math.max(1, boxes), "score", score))
                        .runAll(
                                scored.boxes(),
                                scored.scores(),
                                proposals.boxes(),
                                stay.indices(),
                                stay.weights());
        return new ScoredBoxes(changed.get(0), changed.get(1));
    }

    private List<Instances> withMasks(List<Instances> found) {
        boolean isEmpty = found.stream().allMatch(each -> each.size() == 0);
        float[] masks = isEmpty ? new float[0] : Tensors.readFloats(masks(found));
        List<ImageInfo> images = views.get(0).images;
        List<Instances> withMasks = new ArrayList<>();
        int at = 0;
        for (int n = 0; n < (merges ? 1 : images.size()); n++) {
            Boxes boxes = found.get(n).boxes();
            Boxes place = merges ? boxes : rounded(images.get(n), boxes);
            Size size = images.get(n).original();
            withMasks.add(withMasks(head, found.get(n), place, masks, at, size));
            at += boxes.size() * maskSize(head) * maskSize(head);
        }
        return withMasks;
    }

    /** Returns boxes rounded like mmdetection: converted to the network input and back. */
    private static Boxes rounded(ImageInfo image, Boxes boxes) {
        return image.toOriginal(image.fromOriginal(boxes));
    }

    /** Returns objects with masks from the probabilities that start at {@code masks[start]}. */
    private static Instances withMasks(
            TwoStageHead head,
            Instances objects,
            Boxes boxes,
            float[] masks,
            int start,
            Size image) {
        int side = maskSize(head);
        float[] own = Arrays.copyOfRange(masks, start, start + boxes.size() * side * side);
        TwoStageHead.MaskBranch branch = head.config().masks().orElseThrow();
        MaskStyle style = branch.head().style();
        float threshold = (float) branch.threshold();
        List<Rle> pasted =
                IntStream.range(0, boxes.size())
                        .mapToObj(i -> new MaskPaste(style, own, boxes, i, side, image))
                        .map(paste -> paste.atLeast(threshold))
                        .toList();
        return objects.withMasks(pasted);
    }

    private static int maskSize(TwoStageHead head) {
        return MaskHead.UPSAMPLING
                * head.config().masks().orElseThrow().roiExtractor().outputSize();
    }

    /**
     * Returns mask probabilities {@code [D, S, S]} inside the boxes of D objects, averaged over the
     * views; the boxes are in original coordinates.
     */
    NDArray masks(List<Instances> objects) {
        List<NDArray> ofAugmented = views.stream().map(view -> masks(view, objects)).toList();
        NDArray sum = ofAugmented.stream().reduce(NDArray::add).orElseThrow();
        return views.size() == 1 ? sum : sum.div(Tensors.of(sum.getManager(), views.size()));
    }

    private NDArray masks(View view, List<Instances> objects) {
        List<Boxes> boxes = new ArrayList<>();
        int[][] imageOf = new int[objects.size()][];
        for (int n = 0; n < imageOf.length; n++) {
            boxes.add(view.images.get(n).fromOriginal(objects.get(n).boxes()));
            imageOf[n] = new int[objects.get(n).size()];
            Arrays.fill(imageOf[n], n);
        }
        int[] images = Ints.concat(imageOf);
        NDManager manager = view.features.get(0).getManager();
        Rois rois = Rois.of(manager, Boxes.concat(boxes), images);
        int[] labels = objects.stream().flatMapToInt(of -> Arrays.stream(of.labels())).toArray();
        Shape shape = new Shape(labels.length);
        NDArray masks =
                head.masks()
                        .probabilities(view.roiFeatures, rois, Tensors.of(manager, labels, shape));
        if (view.images.stream().noneMatch(ImageInfo::flipped)) {
            return masks;
        }
        int[] flips =
                Arrays.stream(images).map(n -> view.images.get(n).flipped() ? 1 : 0).toArray();
        NDArray isFlipped = Tensors.of(manager, flips, shape).toType(DataType.BOOLEAN, false);
        return Functional.where(isFlipped.reshape(-1, 1, 1), masks.flip(2), masks);
    }
}
