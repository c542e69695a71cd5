package dev.saccade.eval.tide;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Errors of a detector by type, and the average precision at IoU .50 that it would gain if all
 * errors of one type were fixed.
 *
 * <p>These are the kinds and the numbers of TIDE (Bolya et al., "TIDE: A General Toolbox for
 * Identifying Object Detection Errors", 2020), at an IoU of .5 for foreground and .1 for
 * background: a wrong class or place is put right for the surest detection of an object, and those
 * that are less sure go; duplicates and background go; missed objects need not be found. Unlike in
 * TIDE's code, recall thresholds are COCO's to the last bit, and classes without a single object do
 * not count.
 *
 * @param iouType whether boxes or masks were looked at
 * @param ap average precision at IoU .50, over the best-scoring detections of each image
 * @param rows one for each kind of error, in the order of {@link DetectionError}
 */
public record ErrorBreakdown(IouType iouType, double ap, List<Row> rows) {

    /**
     * One kind of error.
     *
     * @param error the kind
     * @param count the number of detections, or of objects if missed; detections in a crowd do not
     *     count
     * @param gain what is added to average precision if they are mended, never negative
     */
    public record Row(DetectionError error, int count, double gain) {}

    /** Keeps a copy of the list. */
    public ErrorBreakdown {
        rows = ImmutableList.copyOf(rows);
    }

    /**
     * Compares detections with the ground truth.
     *
     * @param iouType whether boxes or masks are compared
     * @param mostDetections limit on the detections of an image, of all classes; 100 in TIDE
     */
    public static ErrorBreakdown compute(
            GroundTruth groundTruth,
            CocoDetections detections,
            IouType iouType,
            int mostDetections) {
        ErrorFinder finder = new ErrorFinder(groundTruth, detections, iouType, mostDetections);
        double ap = finder.averagePrecision(Optional.empty());
        List<Row> rows = new ArrayList<>();
        for (DetectionError error : DetectionError.values()) {
            double gain = finder.averagePrecision(Optional.of(error)) - ap;
            rows.add(new Row(error, finder.count(error), Math.max(0, gain)));
        }
        return new ErrorBreakdown(iouType, ap, rows);
    }

    /** Returns the errors of a kind. */
    public Row row(DetectionError error) {
        return rows.stream().filter(row -> row.error() == error).findFirst().orElseThrow();
    }
}
