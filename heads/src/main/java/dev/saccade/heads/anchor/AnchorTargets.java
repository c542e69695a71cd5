package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.Positions;
import dev.saccade.heads.box.SamplingResult;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Training targets of a batch.
 *
 * @param avgFactors loss divisor of each image, {@code [N]} above 0
 * @param avgFactor loss divisor of the batch, a scalar above 0
 */
public record AnchorTargets(List<Level> levels, NDArray avgFactors, NDArray avgFactor) {

    /**
     * Targets of one level, concatenated over the images.
     *
     * @param labels {@code [N * H * W * A]} int32 class; C for background
     * @param labelWeights {@code [N * H * W * A]} float32: 1 for anchors to train on, else 0
     * @param positives P ascending indices: positive anchors, and fillers with weight 0
     * @param anchors {@code [P, 4]} corners of these anchors
     * @param boxes {@code [P, 4]} ground-truth boxes of these anchors; for fillers, the anchors
     */
    public record Level(
            NDArray labels,
            NDArray labelWeights,
            Positions positives,
            NDArray anchors,
            NDArray boxes) {}

    /** Targets of the N anchors of one image; {@code gtInds [N]} is k + 1 for object k. */
    record ImageTargets(
            NDArray gtInds,
            NDArray posMask,
            NDArray negMask,
            NDArray avgFactor,
            GtInstances objects) {

        /**
         * Returns targets for all anchors from the targets of the {@code inside} anchors (if empty,
         * of all anchors), like mmdetection's {@code unmap}.
         */
        static ImageTargets of(
                NDArray gtInds,
                SamplingResult sampled,
                GtInstances objects,
                AnchorGrid grid,
                Optional<AnchorGrid.Inside> inside) {
            NDList all = new NDList(gtInds, sampled.posMask(), sampled.negMask());
            if (inside.isPresent()) {
                all =
                        UNMAP.runAll(
                                gtInds,
                                sampled.posMask(),
                                sampled.negMask(),
                                inside.get().positions(),
                                grid.anchors());
            }
            return new ImageTargets(
                    all.get(0), all.get(1), all.get(2), sampled.avgFactor(), objects);
        }
    }

    private static final Script UNMAP =
            Script.compile(
                    "(gt_inds: Tensor, pos: Tensor, neg: Tensor, positions: Tensor, anchors:"
                            + " Tensor) -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    n = torch.size(anchors, 0)
                    outside = torch.full([n], -1, dtype=4, device=anchors.device)
                    none = torch.zeros([n], dtype=11, device=anchors.device)
                    return (torch.scatter(outside, 0, positions, gt_inds), torch.scatter(none, 0, positions, pos), torch.scatter(none, 0, positions, neg))
                    """);

    /**
     * Returns six arrays: labels, weights, positive mask and object indices, {@code [N, anchors]};
     * corners of all objects from index 1, with zeros at index 0 for "no object"; loss divisors of
     * the images.
     */
    private static final ScriptTemplate JOIN =
            ScriptTemplate.of(
                    "(gt_inds: List[Tensor], pos: List[Tensor], neg: List[Tensor],"
                            + " factors: List[Tensor], labels: List[Tensor], boxes: List[Tensor])"
                            + " -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]",
                    """
                    device = boxes[0].device
                    classes = torch.cat(torch.add([torch.full([1], {background}, dtype=3, device=device)], labels))
                    corners = torch.cat(torch.add([torch.zeros([1, 4], dtype=6, device=device)], boxes))
                    objects = annotate(List[Tensor], [])
                    start = 0
                    for i in range(torch.len(boxes)):
                      found = torch.where(pos[i], torch.add(gt_inds[i], start), 0)
                      _0 = torch.append(objects, found)
                      start = start + torch.size(boxes[i], 0)
                    object = torch.stack(objects)
                    label = torch.reshape(torch.index_select(classes, 0, torch.reshape(object, [-1])), torch.size(object))
                    positive = torch.stack(pos)
                    weight = torch.to(torch.logical_or(positive, torch.stack(neg)), 6)
                    return (label, weight, positive, object, corners, torch.stack(factors))
                    """);

    private static final Script POSITIVE_BOXES =
            Script.compile(
                    "(indices: Tensor, weights: Tensor, objects: Tensor, corners: Tensor,"
                            + " anchors: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    place = torch.remainder(indices, torch.size(anchors, 0))
                    starts = torch.index_select(anchors, 0, place)
                    ends = torch.index_select(corners, 0, torch.index_select(objects, 0, indices))
                    there = torch.unsqueeze(torch.gt(weights, 0), 1)
                    return (starts, torch.where(there, ends, starts))
                    """);

    private static final Script PER_IMAGE =
            Script.compile(
                    "(weights: Tensor, indices: Tensor, positives: Tensor, factors: Tensor)"
                            + " -> Tuple[Tensor, Tensor]",
                    """
                    n = torch.size(factors, 0)
                    count = torch.size(weights, 0) // n
                    rows = torch.div(torch.reshape(weights, [n, -1]), torch.unsqueeze(factors, 1))
                    own = torch.index_select(factors, 0, torch.floor_divide(indices, count))
                    return (torch.reshape(rows, [-1]), torch.div(positives, own))
                    """);

    /** Returns the number of anchors to train on, a scalar of at least 1. */
    NDArray trained() {
        NDArray number = levels.get(0).labelWeights().sum();
        for (Level level : levels.subList(1, levels.size())) {
            number = number.add(level.labelWeights().sum());
        }
        return Functional.clamp(number, 1);
    }

    static AnchorTargets join(AnchorGrid grid, List<ImageTargets> images, int background) {
        NDList all =
                JOIN.with(Map.of("background", background))
                        .runLists(
                                List.of(
                                        each(images, ImageTargets::gtInds),
                                        each(images, ImageTargets::posMask),
                                        each(images, ImageTargets::negMask),
                                        each(images, ImageTargets::avgFactor),
                                        each(images, image -> image.objects().labels()),
                                        each(images, image -> image.objects().boxes())));
        NDList labels = grid.split(all.get(0), 1);
        NDList weights = grid.split(all.get(1), 1);
        NDList positive = grid.split(all.get(2), 1);
        NDList objects = grid.split(all.get(3), 1);
        NDArray corners = all.get(4);
        ImmutableList.Builder<Level> levels = ImmutableList.builder();
        for (int l = 0; l < grid.levels(); l++) {
            Positions positives = Positions.where(positive.get(l).flatten());
            NDList boxes =
                    POSITIVE_BOXES.runAll(
                            positives.indices(),
                            positives.weights(),
                            objects.get(l).flatten(),
                            corners,
                            grid.anchors(l));
            levels.add(
                    new Level(
                            labels.get(l).flatten(),
                            weights.get(l).flatten(),
                            positives,
                            boxes.get(0),
                            boxes.get(1)));
        }
        return new AnchorTargets(levels.build(), all.get(5), all.get(5).sum());
    }

    /**
     * Returns the targets with weights such that the losses of each image are divided by its own
     * divisor and averaged over the images.
     */
    AnchorTargets averagedPerImage() {
        NDArray ones = avgFactors.onesLike();
        ImmutableList.Builder<Level> averaged = ImmutableList.builder();
        for (Level level : levels) {
            NDList weights =
                    PER_IMAGE.runAll(
                            level.labelWeights(),
                            level.positives().indices(),
                            level.positives().weights(),
                            avgFactors);
            averaged.add(
                    new Level(
                            level.labels(),
                            weights.get(0),
                            new Positions(level.positives().indices(), weights.get(1)),
                            level.anchors(),
                            level.boxes()));
        }
        return new AnchorTargets(averaged.build(), ones, ones.sum());
    }

    private static List<NDArray> each(
            List<ImageTargets> images, Function<ImageTargets, NDArray> of) {
        return images.stream().map(of).toList();
    }
}
