package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.vision.MaxIouAssign;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.Range;

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
 * @param negIouThr a box whose IoU is in this range is background; other boxes that are not
 *     positive are not trained
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
        @Default("0.4") Range negIouThr,
        @Default("0") double minPosIou,
        @Default("true") boolean matchLowQuality,
        @Default("true") boolean gtMaxAssignAll,
        @Default("-1") double ignoreIofThr,
        @Default("true") boolean ignoreWrtCandidates)
        implements Assigner {

    /** Checks the thresholds. */
    public MaxIouAssigner {
        new Checks()
                .inRange("pos_iou_thr", posIouThr, 0, 1)
                .inRange("neg_iou_thr", negIouThr.low(), 0, 1)
                .inRange("neg_iou_thr", negIouThr.high(), 0, 1)
                .inRange("min_pos_iou", minPosIou, 0, 1)
                .inRange("ignore_iof_thr", ignoreIofThr, -1, 1)
                .throwIfAny();
        Checks.require(
                negIouThr.low() <= negIouThr.high() && negIouThr.high() <= posIouThr,
                "neg_iou_thr",
                negIouThr,
                "at most pos_iou_thr %s, the lower end first",
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
        IgnoredRegions ignored = new IgnoredRegions(ignoreIofThr, ignoreWrtCandidates);
        MaxIouAssign rule =
                new MaxIouAssign(
                        posIouThr, negIouThr.high(), minPosIou, matchLowQuality, gtMaxAssignAll);
        NDList found = rule.assign(boxes, objects.boxes(), ignored.hold(boxes, objects.ignored()));
        NDArray gtInds = found.get(0);
        NDArray overlaps = found.get(1);
        if (negIouThr.low() > 0) {
            // Background that overlaps too little is not trained.
            NDArray isFar = Functional.lt(overlaps, (float) negIouThr.low());
            gtInds = Functional.maskedFill(gtInds, Functional.eq(gtInds, 0).logicalAnd(isFar), -1);
        }
        return new Assignment(gtInds, overlaps);
    }
}
