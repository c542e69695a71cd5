package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.MaxIouAssign;
import dev.saccade.core.ops.ScriptTemplate;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

import java.util.Map;

/**
 * Says for every box, such as an anchor, which ground truth it should learn, by IoU; follows
 * mmdetection's {@code MaxIoUAssigner} to the tie.
 *
 * <p>A low-quality match (a box that is the best one of a ground truth, however bad) overrides an
 * earlier and better assignment, and of two ground truths the later wins. With a minimum of 0 a
 * ground truth that touches no box at all takes every box that does not touch it, as in the
 * original.
 *
 * @param posIouThr from this IoU on a box is positive
 * @param negIouThr below this IoU a box is background; in between it is not trained
 * @param minPosIou least IoU of a low-quality match
 * @param matchLowQuality whether every ground truth takes its best boxes
 * @param gtMaxAssignAll whether all boxes that tie for the best are taken, or the first alone
 * @param ignoreIofThr boxes that share more than this with an ignored region are not trained; not
 *     positive: regions are not looked at
 * @param ignoreWrtCandidates whether that is the share of the box that lies in the region, or the
 *     share of the region that lies in the box
 */
@Part("max_iou")
public record MaxIouAssigner(
        @Default("0.5") double posIouThr,
        @Default("0.4") double negIouThr,
        @Default("0") double minPosIou,
        @Default("true") boolean matchLowQuality,
        @Default("true") boolean gtMaxAssignAll,
        @Default("-1") double ignoreIofThr,
        @Default("true") boolean ignoreWrtCandidates)
        implements Assigner {

    /** Region after region, so that memory is of the boxes alone. */
    private static final ScriptTemplate IN_IGNORED =
            ScriptTemplate.of(
                    "(boxes: Tensor, ignored: Tensor) -> Tensor",
                    """
                    b = torch.unbind(torch.contiguous(torch.t(boxes)), 0)
                    area = torch.mul(torch.sub(b[2], b[0]), torch.sub(b[3], b[1]))
                    inside = torch.zeros_like(area, dtype=11)
                    r = 0
                    while r < torch.size(ignored, 0):
                      i = torch.unbind(torch.select(ignored, 0, r), 0)
                      w = torch.sub(torch.minimum(b[2], i[2]), torch.maximum(b[0], i[0]))
                      h = torch.sub(torch.minimum(b[3], i[3]), torch.maximum(b[1], i[1]))
                      shared = torch.mul(torch.clamp(w, 0), torch.clamp(h, 0))
                      if {of_box}:
                        whole = area
                      else:
                        whole = torch.mul(torch.sub(i[2], i[0]), torch.sub(i[3], i[1]))
                      share = torch.div(shared, torch.clamp(whole, 1e-06))
                      inside = torch.logical_or(inside, torch.gt(share, {threshold}))
                      r = r + 1
                    return inside
                    """);

    /** Checks the thresholds. */
    public MaxIouAssigner {
        new Checks()
                .within("pos_iou_thr", posIouThr, 0, 1)
                .within("neg_iou_thr", negIouThr, 0, 1)
                .within("min_pos_iou", minPosIou, 0, 1)
                .within("ignore_iof_thr", ignoreIofThr, -1, 1)
                .throwIfAny();
        Checks.require(
                negIouThr <= posIouThr,
                "neg_iou_thr",
                negIouThr,
                "at most pos_iou_thr %s",
                posIouThr);
    }

    /** {@inheritDoc} Without objects, all priors are background. */
    @Override
    public Assignment assign(Priors priors, GtInstances objects) {
        NDArray boxes = priors.boxes();
        if (objects.size() == 0 || priors.size() == 0) {
            Shape shape = new Shape(priors.size());
            NDManager manager = boxes.getManager();
            return new Assignment(manager.zeros(shape, DataType.INT64), manager.zeros(shape));
        }
        MaxIouAssign rule =
                new MaxIouAssign(posIouThr, negIouThr, minPosIou, matchLowQuality, gtMaxAssignAll);
        NDList found = rule.assign(boxes, objects.boxes(), inIgnored(boxes, objects.ignored()));
        return new Assignment(found.get(0), found.get(1));
    }

    private NDArray inIgnored(NDArray boxes, NDArray ignored) {
        return ignoreIofThr <= 0 || ignored.isEmpty()
                ? boxes.getManager().create(new Shape(0), DataType.BOOLEAN)
                : IN_IGNORED
                        .with(
                                Map.of(
                                        "of_box",
                                        ignoreWrtCandidates,
                                        "threshold",
                                        (double) (float) ignoreIofThr))
                        .run(boxes, ignored);
    }
}
