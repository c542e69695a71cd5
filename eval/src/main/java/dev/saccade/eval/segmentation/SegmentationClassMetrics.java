package dev.saccade.eval.segmentation;

/**
 * Pixel metrics of a class; -1 if undefined.
 *
 * @param pixels ground-truth pixels of the class
 * @param iou true positives / (ground truth + predicted - true positives)
 * @param accuracy true positives / ground truth (recall)
 * @param dice 2 * true positives / (ground truth + predicted)
 * @param boundaryIou see {@link BoundaryIou}
 */
public record SegmentationClassMetrics(
        String name, long pixels, double iou, double accuracy, double dice, double boundaryIou) {}
