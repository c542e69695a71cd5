package dev.saccade.eval.tide;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.StableSort;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

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
        Mending mending =
                new Mending(
                        groundTruth,
                        detections,
                        new ErrorFinder(groundTruth, detections, iouType, mostDetections));
        double ap = mending.averagePrecision(Optional.empty());
        List<Row> rows = new ArrayList<>();
        for (DetectionError error : DetectionError.values()) {
            double gain = mending.averagePrecision(Optional.of(error)) - ap;
            rows.add(new Row(error, mending.count(error), Math.max(0, gain)));
        }
        return new ErrorBreakdown(iouType, ap, rows);
    }

    /** Returns the errors of a kind. */
    public Row row(DetectionError error) {
        return rows.stream().filter(row -> row.error() == error).findFirst().orElseThrow();
    }

    /** Measures detections as if some of their errors had not been made. */
    private static final class Mending {

        private final GroundTruth groundTruth;
        private final CocoDetections detections;
        private final ErrorFinder finder;
        private final int[] bySureness;

        Mending(GroundTruth groundTruth, CocoDetections detections, ErrorFinder finder) {
            this.groundTruth = groundTruth;
            this.detections = detections;
            this.finder = finder;
            this.bySureness =
                    IntStream.range(0, detections.size()).filter(finder::counted).toArray();
            StableSort.descending(bySureness, 0, bySureness.length, detections::score);
        }

        int count(DetectionError error) {
            return (int)
                    (error == DetectionError.MISSED
                            ? IntStream.range(0, groundTruth.size()).filter(finder::missed).count()
                            : Arrays.stream(bySureness)
                                    .filter(d -> finder.error(d) == error && !finder.inCrowd(d))
                                    .count());
        }

        double averagePrecision(Optional<DetectionError> mended) {
            int classes = groundTruth.classes().size();
            int[] objects = new int[classes];
            BitSet wanted = new BitSet();
            boolean withoutMissed = mended.equals(Optional.of(DetectionError.MISSED));
            for (int g = 0; g < groundTruth.size(); g++) {
                if (!groundTruth.crowd(g)) {
                    wanted.set(groundTruth.label(g));
                    objects[groundTruth.label(g)] += withoutMissed && finder.missed(g) ? 0 : 1;
                }
            }
            Ranking[] rankings = new Ranking[classes];
            Arrays.setAll(rankings, label -> new Ranking());
            for (int detection : bySureness) {
                rank(detection, mended, rankings);
            }
            return wanted.stream()
                    .filter(label -> objects[label] > 0 || rankings[label].length > 0)
                    .mapToDouble(label -> rankings[label].averagePrecision(objects[label]))
                    .average()
                    .orElse(0);
        }

        private void rank(int detection, Optional<DetectionError> mended, Ranking[] rankings) {
            int label = detections.label(detection);
            if (finder.right(detection)) {
                rankings[label].add(true);
            } else if (mended.equals(Optional.of(finder.error(detection)))) {
                finder.mended(detection)
                        .ifPresent(object -> rankings[groundTruth.label(object)].add(true));
            } else if (!finder.inCrowd(detection)) {
                rankings[label].add(false);
            }
        }
    }

    /** Detections of a class from the surest on: which of them are right. */
    private static final class Ranking {

        private final BitSet right = new BitSet();
        private int length;

        void add(boolean isRight) {
            right.set(length++, isRight);
        }

        /** Returns the mean over COCO's recall thresholds of the best precision that reaches it. */
        double averagePrecision(int objects) {
            int[] places = right.stream().toArray();
            double sum = 0;
            double best = 0;
            int threshold = CocoParameters.RECALL_THRESHOLDS.length() - 1;
            for (int i = places.length - 1; i >= 0; i--) {
                for (; threshold >= 0 && recall(threshold) > (i + 1.0) / objects; threshold--) {
                    sum += best;
                }
                best = Math.max(best, (i + 1.0) / (places[i] + 1));
            }
            sum += best * (threshold + 1);
            return sum / CocoParameters.RECALL_THRESHOLDS.length();
        }

        private static double recall(int threshold) {
            return CocoParameters.RECALL_THRESHOLDS.get(threshold);
        }
    }
}
