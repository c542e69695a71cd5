package dev.saccade.eval.tide;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * TIDE's error breakdown: counts by type, and the AP50 gained by fixing all errors of a type. As in
 * TIDE (Bolya et al., "TIDE: A General Toolbox for Identifying Object Detection Errors", 2020),
 * foreground starts at IoU 0.5 and background ends at 0.1. Fixing a wrong class or location
 * corrects the highest-scoring detection of an object and removes the others. Fixing other errors
 * removes the detections or the missed objects. Unlike in TIDE's code, recall thresholds equal
 * COCO's exactly, and classes without objects are ignored.
 *
 * @param ap AP50 over the top-scoring detections of each image
 */
public record ErrorBreakdown(IouType iouType, double ap, List<Row> rows) {

    /**
     * Errors of one type.
     *
     * @param count number of wrong detections outside crowds, or of missed objects
     * @param gain AP50 gained by fixing the errors; never negative
     */
    public record Row(DetectionError error, int count, double gain) {}

    public ErrorBreakdown {
        rows = ImmutableList.copyOf(rows);
    }

    /** Returns the errors in the top {@code maxDetections} detections of each image. */
    public static ErrorBreakdown compute(
            GroundTruth groundTruth,
            CocoDetections detections,
            IouType iouType,
            int maxDetections) {
        ErrorFinder finder = new ErrorFinder(groundTruth, detections, iouType, maxDetections);
        double ap = finder.averagePrecision(Optional.empty());
        List<Row> rows = new ArrayList<>();
        for (DetectionError error : DetectionError.values()) {
            double gain = finder.averagePrecision(Optional.of(error)) - ap;
            rows.add(new Row(error, finder.count(error), Math.max(0, gain)));
        }
        return new ErrorBreakdown(iouType, ap, rows);
    }

    public Row row(DetectionError error) {
        return rows.stream().filter(row -> row.error() == error).findFirst().orElseThrow();
    }
}
