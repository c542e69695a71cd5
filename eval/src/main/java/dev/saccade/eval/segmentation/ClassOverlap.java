package dev.saccade.eval.segmentation;

/**
 * Pixel metrics of a class; -1 where they are undefined.
 *
 * @param name the name of the class
 * @param pixels of the class in the ground truth
 * @param iou pixels rightly taken for the class over those that are or were taken for it
 * @param accuracy pixels rightly taken for the class over those that are of it
 * @param dice twice the pixels rightly taken for the class over the sum of those that are and those
 *     that were taken for it
 * @param boundaryIou see {@link BoundaryOverlap}
 */
public record ClassOverlap(
        String name, long pixels, double iou, double accuracy, double dice, double boundaryIou) {}
