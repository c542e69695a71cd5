package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableList;

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
 * What every anchor of a batch should learn.
 *
 * @param levels by level
 * @param avgFactor what sums of losses are divided by, a scalar: the number of anchors that count,
 *     at least 1 for every image
 */
public record AnchorTargets(List<Level> levels, NDArray avgFactor) {

    /**
     * The anchors of one level, image after image.
     *
     * @param labels {@code [N * H * W * A]} int32: the class, or C for background
     * @param labelWeights {@code [N * H * W * A]} float32: 0 for anchors that are not trained, else
     *     1
     * @param positives [P] positions of anchors that should find an object, ascending
     * @param anchors {@code [P, 4]} corners of these anchors
     * @param boxes {@code [P, 4]} corners of the boxes they should find; of fillers, the anchors
     */
    public record Level(
            NDArray labels,
            NDArray labelWeights,
            Positions positives,
            NDArray anchors,
            NDArray boxes) {}

    /**
     * What the anchors of one image should learn.
     *
     * @param gtInds {@code [N]} int64: k + 1 for object k
     * @param posMask {@code [N]} boolean: those that should find it
     * @param negMask {@code [N]} boolean: those that should see background
     * @param avgFactor how much of the {@link AnchorTargets#avgFactor} is of this image, a scalar
     * @param objects [K] the objects
     */
    record OfImage(
            NDArray gtInds,
            NDArray posMask,
            NDArray negMask,
            NDArray avgFactor,
            GtInstances objects) {

        /**
         * Returns what was sampled of an image, as said of all anchors.
         *
         * @param inside the anchors that were sampled from, if these are not all
         */
        static OfImage of(
                NDArray gtInds,
                SamplingResult sampled,
                GtInstances objects,
                AnchorGrid grid,
                Optional<AnchorGrid.Inside> inside) {
            NDList all = new NDList(gtInds, sampled.posMask(), sampled.negMask());
            if (inside.isPresent()) {
                all =
                        SPREAD.runAll(
                                gtInds,
                                sampled.posMask(),
                                sampled.negMask(),
                                inside.get().positions(),
                                grid.anchors());
            }
            return new OfImage(all.get(0), all.get(1), all.get(2), sampled.avgFactor(), objects);
        }
    }

    private static final Script SPREAD =
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
     * All images together: labels, weights, positive ones and their objects, {@code [N, anchors]},
     * the corners of all objects behind those of none, and the divisor.
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
                    return (label, weight, positive, object, corners, torch.sum(torch.stack(factors)))
                    """);

    private static final Script OF_POSITIVES =
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

    /**
     * Joins what the images of a batch have to teach.
     *
     * @param background C
     */
    static AnchorTargets join(AnchorGrid grid, List<OfImage> images, int background) {
        NDList all =
                JOIN.with(Map.of("background", background))
                        .runLists(
                                List.of(
                                        each(images, OfImage::gtInds),
                                        each(images, OfImage::posMask),
                                        each(images, OfImage::negMask),
                                        each(images, OfImage::avgFactor),
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
                    OF_POSITIVES.runAll(
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
        return new AnchorTargets(levels.build(), all.get(5));
    }

    private static List<NDArray> each(List<OfImage> images, Function<OfImage, NDArray> of) {
        return images.stream().map(of).toList();
    }
}
