package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableDoubleArray;

/**
 * Precision-recall curve of a class, for objects of all sizes.
 *
 * @param precision precision at each of {@link CocoParameters#RECALL_THRESHOLDS}, [R]
 * @param scores score at each recall threshold; 0 if it is not reached, [R]
 */
public record PrecisionRecallCurve(
        String name, double iou, ImmutableDoubleArray precision, ImmutableDoubleArray scores) {}
