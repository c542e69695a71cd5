package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Range;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.vision.MaxIouAssign;

/**
 * Assigns objects to priors by IoU, like mmdetection's {@code MaxIoUAssigner}, including ties.
 *
 * <p>Low-quality matches (the best priors of an object, even below {@code pos_iou_thr}) override
 * earlier assignments; if two objects match a prior, the later object wins. As in mmdetection, with
 * {@code min_pos_iou: 0}, an object that overlaps no prior matches all priors outside ignored
 * regions.
 *
 * @param negIouThr IoU range of background; other priors below {@code pos_iou_thr} are ignored
 * @param minPosIou minimum IoU of a low-quality match
 * @param lowQualityArgmax whether a low-quality match gets the object with the highest IoU with the
 *     prior, as in torchvision and detectron2, instead of the object that the prior is best for
 * @param gtMaxAssignAll whether all priors with the maximum IoU match, instead of only the first
 * @param ignoreIofThr priors with a larger IoF with an ignored region are ignored; 0 or less to
 *     disable
 * @param ignoreWrtCandidates whether the IoF is relative to the prior, instead of the region
 */
@Component("max_iou")
public record MaxIouAssigner(
        @Default("0.5") double posIouThr,
        @Default("0.4") Range negIouThr,
        @Default("0") double minPosIou,
        @Default("true") boolean matchLowQuality,
        @Default("false") boolean lowQualityArgmax,
        @Default("true") boolean gtMaxAssignAll,
        @Default("-1") double ignoreIofThr,
        @Default("true") boolean ignoreWrtCandidates)
        implements Assigner {

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
                "a range [low, high] with low <= high <= pos_iou_thr %s",
                posIouThr);
    }

    /**
     * {@inheritDoc} Without objects, all priors are background. Otherwise, {@code maxOverlaps} is
     * -1 for priors in ignored regions.
     */
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
        NDArray skip = ignored.contain(boxes, objects.ignored());
        NDList found = rule.assign(boxes, objects.boxes(), skip);
        NDArray gtInds = found.get(0);
        if (matchLowQuality && lowQualityArgmax) {
            MaxIouAssign best = new MaxIouAssign(0, 0, 0, false, gtMaxAssignAll);
            NDArray argmax = best.assign(boxes, objects.boxes(), skip).get(0);
            gtInds = Functional.where(Functional.gt(gtInds, 0), argmax, gtInds);
        }
        NDArray overlaps = found.get(1);
        if (negIouThr.low() > 0) {
            // Priors with a smaller overlap than the range are ignored.
            NDArray isFar = Functional.lt(overlaps, (float) negIouThr.low());
            gtInds = Functional.maskedFill(gtInds, Functional.eq(gtInds, 0).logicalAnd(isFar), -1);
        }
        return new Assignment(gtInds, overlaps);
    }
}
