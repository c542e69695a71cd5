package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The best anchors of every level.
 *
 * @param scores {@code [N, R, C]} class probabilities
 * @param deltas {@code [N, R, 4]} bbox deltas
 * @param anchors {@code [N, R, 4]} corners
 * @param perLevel number of anchors of each level; their sum is R
 */
record TopAnchors(NDArray scores, NDArray deltas, NDArray anchors, List<Long> perLevel) {

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(logits: List[Tensor], deltas: List[Tensor], corners: List[Tensor])"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    return ops.saccade.top_anchors(
                        logits, deltas, corners[0], {strides}, {classes}, {nms_pre})
                    """);

    /** While a graph is recorded, pads smaller levels to {@code nms_pre} anchors. */
    private static final ScriptTemplate OF_LEVEL =
            ScriptTemplate.of(
                    "(scores: Tensor, deltas: Tensor, anchors: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    n = torch.size(anchors, 0)
                    c = torch.size(scores, 1)
                    score = torch.reshape(scores, [-1, n, c])
                    delta = torch.reshape(deltas, [-1, n, 4])
                    if {padded}:
                      none = torch.log(torch.zeros([torch.size(score, 0), {nms_pre}, c], dtype=6, device=score.device))
                      score = torch.cat([score, none], 1)
                      delta = torch.constant_pad_nd(delta, [0, 0, 0, {nms_pre}])
                      anchors = torch.constant_pad_nd(anchors, [0, 0, 0, {nms_pre}])
                      n = n + {nms_pre}
                    best = torch.amax(score, [2], False)
                    count = {nms_pre}
                    if count > n:
                      count = n
                    _0, top = torch.topk(best, count, 1, True, True)
                    column = torch.unsqueeze(top, 2)
                    score = torch.gather(score, 1, torch.expand(column, [-1, -1, c]))
                    delta = torch.gather(delta, 1, torch.expand(column, [-1, -1, 4]))
                    anchor = torch.index_select(anchors, 0, torch.reshape(top, [-1]))
                    return (score, delta, torch.reshape(anchor, torch.size(delta)))
                    """);

    private static final ScriptTemplate PAIRS_OF_LEVEL =
            ScriptTemplate.of(
                    "(scores: Tensor, deltas: Tensor, anchors: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor, Tensor]",
                    """
                    n = torch.size(anchors, 0)
                    c = torch.size(scores, 1)
                    above = torch.where(torch.gt(scores, {score_thr}), scores, 0.)
                    pairs = torch.reshape(above, [-1, n * c])
                    count = {nms_pre}
                    if {padded}:
                      pairs = torch.constant_pad_nd(pairs, [0, count], -1.)
                    elif count > n * c:
                      count = n * c
                    best, pair = torch.topk(pairs, count, 1, True, True)
                    pair = torch.clamp(pair, 0, n * c - 1)
                    row = torch.floor_divide(pair, c)
                    classes = torch.arange(c, dtype=4, device=scores.device)
                    label = torch.unsqueeze(torch.remainder(pair, c), 2)
                    score = torch.where(torch.eq(label, classes), torch.unsqueeze(best, 2), 0.)
                    column = torch.expand(torch.unsqueeze(row, 2), [-1, -1, 4])
                    delta = torch.gather(torch.reshape(deltas, [-1, n, 4]), 1, column)
                    anchor = torch.index_select(anchors, 0, torch.reshape(row, [-1]))
                    return (score, delta, torch.reshape(anchor, torch.size(delta)), row)
                    """);

    /**
     * Selects the anchors with the highest class logits with a fused operator for inference on
     * CPUs; of equal ones, the first. NaN ranks first.
     *
     * @param maps of each level, logits {@code [N, A * C, H, W]} and deltas {@code [N, A * 4, H,
     *     W]}
     */
    static TopAnchors of(List<NDList> maps, AnchorGenerator generator, int classes, int nmsPre) {
        List<NDArray> logits = new ArrayList<>();
        List<NDArray> deltas = new ArrayList<>();
        List<Integer> strides = new ArrayList<>();
        List<Long> perLevel = new ArrayList<>();
        for (int l = 0; l < maps.size(); l++) {
            logits.add(maps.get(l).get(0));
            deltas.add(maps.get(l).get(1));
            strides.add(generator.stride(l));
            long cells = deltas.get(l).getShape().get(2) * deltas.get(l).getShape().get(3);
            perLevel.add(Math.min(nmsPre, cells * generator.anchorsPerCell()));
        }
        NDArray corners = generator.baseAnchors(logits.get(0).getManager());
        NDList top =
                FUSED.with(Map.of("strides", strides, "classes", classes, "nms_pre", nmsPre))
                        .runLists(List.of(logits, deltas, List.of(corners)));
        return new TopAnchors(top.get(0), top.get(1), top.get(2), perLevel);
    }

    /**
     * Selects the anchors of a level with the highest best-class scores.
     *
     * @param scores {@code [N * R, C]}
     * @param deltas {@code [N * R, 4]}
     * @param anchors {@code [R, 4]}
     * @return {@code [N, nmsPre, C]} scores, {@code [N, nmsPre, 4]} bbox deltas and corners
     */
    static NDList ofLevel(NDArray scores, NDArray deltas, NDArray anchors, int nmsPre) {
        return OF_LEVEL.with(Map.of("nms_pre", nmsPre, "padded", Tracer.isRecording()))
                .runAll(scores, deltas, anchors);
    }

    /**
     * Selects the (anchor, class) pairs of a level with the highest scores.
     *
     * @param scores {@code [N * R, C]}
     * @param deltas {@code [N * R, 4]}
     * @param anchors {@code [R, 4]}
     * @param scoreThr scores up to this value become 0
     * @return {@code [N, nmsPre, C]} scores, 0 except for the class of the pair; {@code [N, nmsPre,
     *     4]} bbox deltas and corners; {@code [N, nmsPre]} indices of the anchors
     */
    static NDList pairsOfLevel(
            NDArray scores, NDArray deltas, NDArray anchors, int nmsPre, double scoreThr) {
        return PAIRS_OF_LEVEL
                .with(
                        Map.of(
                                "nms_pre",
                                nmsPre,
                                "padded",
                                Tracer.isRecording(),
                                "score_thr",
                                (double) (float) scoreThr))
                .runAll(scores, deltas, anchors);
    }

    /** Returns the anchors of all levels, given scores, deltas and corners of each. */
    static TopAnchors concat(List<NDList> levels) {
        return new TopAnchors(
                concat(levels, 0),
                concat(levels, 1),
                concat(levels, 2),
                levels.stream().map(level -> level.get(0).getShape().get(1)).toList());
    }

    private static NDArray concat(List<NDList> levels, int column) {
        return Tensors.concat(
                new NDList(levels.stream().map(level -> level.get(column)).toList()), 1);
    }
}
