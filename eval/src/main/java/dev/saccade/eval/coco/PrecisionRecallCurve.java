package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableDoubleArray;

/**
 * Precision of a class over recall, for objects of all sizes.
 *
 * @param name the name of the class
 * @param iou the IoU threshold
 * @param precision precision at each of {@link CocoParameters#RECALL_THRESHOLDS}, [R]
 * @param scores the score at which that recall is reached, 0 where it never is, [R]
 */
public record PrecisionRecallCurve(
        String name, double iou, ImmutableDoubleArray precision, ImmutableDoubleArray scores) {}
