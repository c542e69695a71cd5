package dev.saccade.eval.coco;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Intersection over union of a detection and an object of the same image. */
@FunctionalInterface
public interface PairwiseIou {

    /** Returns a number from 0 to 1; if the object is a crowd, the part of the detection in it. */
    double iou(int detection, int object);

    /** Returns the overlap of boxes or masks. */
    static PairwiseIou of(IouType iouType, GroundTruth groundTruth, CocoDetections detections) {
        return switch (iouType) {
            case BOX -> boxes(groundTruth, detections);
            case MASK -> masks(groundTruth, detections);
        };
    }

    private static PairwiseIou boxes(GroundTruth groundTruth, CocoDetections detections) {
        double[] found = detections.boxes().toArray();
        double[] wanted =
                IntStream.range(0, groundTruth.size())
                        .mapToObj(g -> groundTruth.object(g).box())
                        .flatMapToDouble(b -> DoubleStream.of(b.x(), b.y(), b.width(), b.height()))
                        .toArray();
        return (detection, object) -> {
            int d = 4 * detection;
            int g = 4 * object;
            double width = shared(found[d], found[d + 2], wanted[g], wanted[g + 2]);
            double height = shared(found[d + 1], found[d + 3], wanted[g + 1], wanted[g + 3]);
            if (width <= 0 || height <= 0) {
                return 0;
            }
            double intersection = width * height;
            double area = found[d + 2] * found[d + 3];
            double objectArea = wanted[g + 2] * wanted[g + 3];
            return intersection
                    / (groundTruth.crowd(object) ? area : area + objectArea - intersection);
        };
    }

    private static PairwiseIou masks(GroundTruth groundTruth, CocoDetections detections) {
        if (detections.masks().isEmpty() && detections.size() > 0) {
            throw SaccadeException.user("mask AP needs detections with masks, got boxes");
        }
        List<Rle> found = detections.masks();
        List<Rle> wanted = groundTruth.masks();
        List<Rle.Bounds> foundBounds = found.stream().map(Rle::bounds).toList();
        List<Rle.Bounds> wantedBounds = wanted.stream().map(Rle::bounds).toList();
        return (detection, object) -> {
            Rle.Bounds d = foundBounds.get(detection);
            Rle.Bounds g = wantedBounds.get(object);
            boolean apart =
                    shared(d.x(), d.width(), g.x(), g.width()) <= 0
                            || shared(d.y(), d.height(), g.y(), g.height()) <= 0;
            return apart
                    ? 0
                    : found.get(detection).iou(wanted.get(object), groundTruth.crowd(object));
        };
    }

    /** Returns how much two intervals, given by start and length, share; negative if apart. */
    private static double shared(double a, double aLength, double b, double bLength) {
        return Math.min(a + aLength, b + bLength) - Math.max(a, b);
    }
}
