package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ImageFrames;
import dev.saccade.heads.box.Positions;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a {@link TwoStageHead} finds in a batch: it scores what it proposes, in all its stages, and
 * draws the masks of what is selected. Arrays are left to the scope of the caller, who records no
 * gradients.
 *
 * @param head what looks at the images
 * @param features of the batch
 * @param images what was done to each image of the batch
 * @param frames the same where the features are
 */
record TwoStageInference(
        TwoStageHead head, RoiFeatures features, List<ImageInfo> images, ImageFrames frames) {

    /** Corners of some of the regions of a batch, and their images. */
    private static final Script REGIONS =
            Script.compile(
                    "(boxes: Tensor, indices: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    m = torch.size(boxes, 1)
                    chosen = torch.index_select(torch.reshape(boxes, [-1, 4]), 0, indices)
                    return (chosen, torch.floor_divide(indices, m))
                    """);

    private static final ScriptTemplate SOFTMAX =
            ScriptTemplate.of(
                    "(logits: Tensor) -> Tensor",
                    """
                    mean = torch.div(logits, {stages})
                    return torch.slice(torch.softmax(mean, 1), 1, 0, -1)
                    """);

    /** Rows of some regions among those of all, which have no area and no score. */
    private static final Script AMONG_ALL =
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

    /** Whether regions end at the top. */
    private static final Script AT_TOP =
            Script.compile(
                    "(regions: Tensor, there: Tensor) -> Tensor",
                    """
                    at_top = torch.eq(torch.select(regions, 2, 3), 0)
                    return torch.reshape(torch.logical_and(there, at_top), [-1])
                    """);

    /** All classes alike for some regions, which stay where they are. */
    private static final ScriptTemplate UNDECIDED =
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
                    alike = torch.masked_fill(torch.index_select(of_class, 0, indices), known, {score})
                    of_box = torch.index_copy(of_box, 0, indices, corners)
                    of_class = torch.index_copy(of_class, 0, indices, alike)
                    return (torch.reshape(of_box, torch.size(boxes)), torch.reshape(of_class, torch.size(scores)))
                    """);

    /** Boxes, images and labels of all objects of a batch, and of what lies behind them. */
    private static final Script OBJECTS =
            Script.compile(
                    "(boxes: Tensor, labels: Tensor) -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    m = torch.size(labels, 1)
                    label = torch.flatten(labels)
                    every = torch.arange(torch.size(label, 0), dtype=4, device=label.device)
                    image = torch.floor_divide(every, m)
                    return (torch.reshape(boxes, [-1, 4]), image, label)
                    """);

    private static final Script OF_IMAGES =
            Script.compile(
                    "(masks: Tensor, labels: Tensor) -> Tensor",
                    """
                    size = torch.size(masks, 1)
                    return torch.reshape(masks, [-1, torch.size(labels, 1), size, size])
                    """);

    private static final Script MIRRORED =
            Script.compile(
                    "(masks: Tensor, flipped: Tensor) -> Tensor",
                    """
                    mirror = torch.reshape(torch.gt(flipped, 0), [-1, 1, 1])
                    return torch.where(mirror, torch.flip(masks, [2]), masks)
                    """);

    TwoStageInference(TwoStageHead head, RoiFeatures features, List<ImageInfo> images) {
        this(
                head,
                features,
                images,
                ImageFrames.of(features.pyramid().get(0).getManager(), images));
    }

    /** Returns the objects of each image, in the coordinates of the original image. */
    List<Instances> predict() {
        ScoredBoxes decided = decided(head.propose(features.pyramid(), images));
        List<Instances> found = head.select(toOriginal(decided)).toInstances();
        if (!head.hasMasks()) {
            return found;
        }
        return outlined(head, found, images, drawMasks(found));
    }

    /**
     * Returns objects with their masks.
     *
     * @param objects of each image, in the coordinates of the original image
     * @param masks of each image: the probabilities inside of the boxes
     */
    static List<Instances> outlined(
            TwoStageHead head,
            List<Instances> objects,
            List<ImageInfo> images,
            List<float[]> masks) {
        ImmutableList.Builder<Instances> outlined = ImmutableList.builder();
        for (int n = 0; n < images.size(); n++) {
            ImageInfo image = images.get(n);
            // To the input and back, for the rounding of the original.
            Boxes boxes = image.toOriginal(image.fromOriginal(objects.get(n).boxes()));
            List<Rle> drawn = head.paste(masks.get(n), boxes, image.original());
            outlined.add(objects.get(n).withMasks(drawn));
        }
        return outlined.build();
    }

    /** See {@link TwoStageHead#detect}. */
    NDList detect() {
        ScoredBoxes decided = decided(head.rpn().propose(features.pyramid(), frames));
        Detections found = head.select(decided);
        NDList arrays = found.list();
        if (head.hasMasks()) {
            NDList objects = OBJECTS.runAll(found.boxes(), found.labels());
            Rois rois = new Rois(objects.get(0), objects.get(1));
            NDArray pooled = head.poolForMasks(features, rois);
            NDArray masks = head.masks().probabilities(pooled, objects.get(2));
            arrays.add(OF_IMAGES.run(masks, found.labels()));
        }
        return arrays;
    }

    private ScoredBoxes decided(Detections proposals) {
        ScoredBoxes scored = score(proposals);
        return head.stages().size() == 1 ? undecided(scored, proposals) : scored;
    }

    /**
     * Leaves regions that end at the top of the image where they are, all classes being alike: Mask
     * R-CNN in mmdetection takes them for fillers of a batch.
     */
    private ScoredBoxes undecided(ScoredBoxes scored, Detections proposals) {
        long boxes = scored.boxes().getShape().get(1) / Math.max(1, scored.size());
        NDArray there = Candidates.there(proposals);
        Positions stay = Positions.where(AT_TOP.run(proposals.boxes(), there));
        NDList decided =
                UNDECIDED
                        .with(
                                Map.of(
                                        "boxes",
                                        Math.max(1, boxes),
                                        "score",
                                        1f / (head.numClasses() + 1)))
                        .runAll(
                                scored.boxes(),
                                scored.scores(),
                                proposals.boxes(),
                                stay.indices(),
                                stay.weights());
        return new ScoredBoxes(decided.get(0), decided.get(1));
    }

    /**
     * Scores and regresses regions.
     *
     * @param proposals the regions of each image, in the coordinates of the network input
     * @return every class of every region of each image, in the same coordinates; those that are
     *     not there score minus infinity
     */
    ScoredBoxes score(Detections proposals) {
        return Scope.call(
                () -> scored(proposals), scored -> List.of(scored.boxes(), scored.scores()));
    }

    private ScoredBoxes scored(Detections proposals) {
        NDArray there = Candidates.there(proposals);
        Positions found = Positions.where(there.reshape(-1));
        NDList regions = REGIONS.runAll(proposals.boxes(), found.indices());
        Rois rois = new Rois(regions.get(0), regions.get(1));
        List<RoiStage> stages = head.stages();
        NDArray logits = null;
        BoxHead.Output output = null;
        for (RoiStage stage : stages) {
            output = head.forward(stage, features, rois, Optional.empty());
            logits = logits == null ? output.logits() : logits.add(output.logits());
            if (stage.index() < stages.size() - 1) {
                NDArray refined = stage.box().refine(output, rois.boxes());
                rois = new Rois(frames.clip(refined, rois.images()), rois.images());
            }
        }
        NDArray scores = SOFTMAX.with(Map.of("stages", stages.size())).run(logits);
        NDArray deltas = output.deltas();
        NDArray boxes =
                stages.get(stages.size() - 1)
                        .box()
                        .coder()
                        .decode(
                                rois.boxes().expandDims(1),
                                deltas.reshape(rois.size(), deltas.getShape().get(1) / 4, 4));
        NDList all = AMONG_ALL.runAll(boxes, scores, found.indices(), found.weights(), there);
        return new ScoredBoxes(frames.clip(all.get(0)), all.get(1));
    }

    /** Returns the same in the coordinates of the original images. */
    ScoredBoxes toOriginal(ScoredBoxes scored) {
        return scored.mapBoxes(frames::toOriginal);
    }

    /** See {@link TwoStageHead#drawMasks}. */
    List<float[]> drawMasks(List<Instances> objects) {
        int numbers = head.maskSize() * head.maskSize();
        boolean none = objects.stream().allMatch(each -> each.size() == 0);
        float[] drawn = none ? new float[0] : Tensors.readFloats(masks(objects));
        List<float[]> byImage = new ArrayList<>();
        int from = 0;
        for (Instances ofImage : objects) {
            int to = from + ofImage.size();
            byImage.add(Arrays.copyOfRange(drawn, from * numbers, to * numbers));
            from = to;
        }
        return byImage;
    }

    /**
     * Returns the probabilities of the masks of objects, {@code [D, S, S]}, inside their boxes.
     *
     * @param objects of each image, in the coordinates of the original image; at least one
     */
    NDArray masks(List<Instances> objects) {
        List<Boxes> boxes = new ArrayList<>();
        int[][] imageOf = new int[images.size()][];
        for (int n = 0; n < images.size(); n++) {
            boxes.add(images.get(n).fromOriginal(objects.get(n).boxes()));
            imageOf[n] = new int[objects.get(n).size()];
            Arrays.fill(imageOf[n], n);
        }
        int[] all = Ints.concat(imageOf);
        NDManager manager = features.pyramid().get(0).getManager();
        Rois rois = Rois.of(manager, Boxes.concat(boxes), all);
        int[] labels = objects.stream().flatMapToInt(of -> Arrays.stream(of.labels())).toArray();
        NDArray shown = Tensors.of(manager, labels, new Shape(labels.length));
        NDArray masks =
                Scope.array(
                        () -> head.masks().probabilities(head.poolForMasks(features, rois), shown));
        if (images.stream().noneMatch(ImageInfo::flipped)) {
            return masks;
        }
        int[] flipped = Arrays.stream(all).map(n -> images.get(n).flipped() ? 1 : 0).toArray();
        return MIRRORED.run(masks, Tensors.of(manager, flipped, new Shape(flipped.length)));
    }
}
