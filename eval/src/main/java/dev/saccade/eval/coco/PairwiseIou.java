package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Annotation;

import java.util.List;

/** IoU of a detection and an object of the same image. */
@FunctionalInterface
public interface PairwiseIou {

    /** Returns the IoU; for crowds, the intersection over the area of the detection. */
    double iou(int detection, int object);

    static PairwiseIou of(IouType iouType, GroundTruth groundTruth, CocoDetections detections) {
        return switch (iouType) {
            case BOX -> boxes(groundTruth, detections);
            case MASK -> masks(groundTruth, detections);
        };
    }

    private static PairwiseIou boxes(GroundTruth groundTruth, CocoDetections detections) {
        ImmutableDoubleArray found = detections.boxes();
        return (detection, object) -> {
            int d = 4 * detection;
            Annotation.Bbox truth = groundTruth.object(object).box();
            double width = shared(found.get(d), found.get(d + 2), truth.x(), truth.width());
            double height = shared(found.get(d + 1), found.get(d + 3), truth.y(), truth.height());
            if (width <= 0 || height <= 0) {
                return 0;
            }
            double intersection = width * height;
            double area = found.get(d + 2) * found.get(d + 3);
            double objectArea = truth.width() * truth.height();
            return intersection
                    / (groundTruth.crowd(object) ? area : area + objectArea - intersection);
        };
    }

    private static PairwiseIou masks(GroundTruth groundTruth, CocoDetections detections) {
        if (detections.masks().isEmpty() && detections.size() > 0) {
            throw SaccadeException.user("mask AP: got detections without masks, expected masks");
        }
        List<Rle> found = detections.masks();
        List<Rle> truth = groundTruth.masks();
        List<Rle.Bounds> foundBounds = found.stream().map(Rle::bounds).toList();
        List<Rle.Bounds> truthBounds = truth.stream().map(Rle::bounds).toList();
        return (detection, object) -> {
            Rle.Bounds d = foundBounds.get(detection);
            Rle.Bounds g = truthBounds.get(object);
            boolean isDisjoint =
                    shared(d.x(), d.width(), g.x(), g.width()) <= 0
                            || shared(d.y(), d.height(), g.y(), g.height()) <= 0;
            return isDisjoint
                    ? 0
                    : found.get(detection).iou(truth.get(object), groundTruth.crowd(object));
        };
    }

    /** Returns the overlap of two intervals, given by start and length; negative if disjoint. */
    private static double shared(double a, double aLength, double b, double bLength) {
        return Math.min(a + aLength, b + bLength) - Math.max(a, b);
    }
}
