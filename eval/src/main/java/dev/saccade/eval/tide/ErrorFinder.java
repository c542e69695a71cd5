package dev.saccade.eval.tide;

import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.ImageIndex;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.PairwiseIou;
import dev.saccade.eval.coco.StableSort;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Finds the {@link DetectionError} of each false positive and computes AP with one type fixed. */
final class ErrorFinder {

    /** Minimum IoU of a match. */
    private static final double FOREGROUND = 0.5;

    /** Maximum IoU of a background detection. */
    private static final double BACKGROUND = 0.1;

    private static final int NONE = -1;

    private final GroundTruth groundTruth;
    private final CocoDetections detections;
    private final PairwiseIou overlap;

    private final int[] byScore;
    private final BitSet correct = new BitSet();
    private final BitSet inCrowd = new BitSet();
    private final BitSet matched = new BitSet();
    private final DetectionError[] errors;

    /** For each detection, the unmatched object it would match with correct class and location. */
    private final int[] targets;

    /** For each object, the highest-scoring detection with this object in {@code targets}. */
    private final int[] fixers;

    ErrorFinder(
            GroundTruth groundTruth,
            CocoDetections detections,
            IouType iouType,
            int maxDetections) {
        groundTruth.requireMatching(detections);
        this.groundTruth = groundTruth;
        this.detections = detections;
        this.overlap = PairwiseIou.of(iouType, groundTruth, detections);
        this.errors = new DetectionError[detections.size()];
        this.targets = new int[detections.size()];
        this.fixers = new int[groundTruth.size()];
        Arrays.fill(targets, NONE);
        Arrays.fill(fixers, NONE);
        BitSet counted = new BitSet();
        ImageIndex byImage = new ImageIndex(groundTruth, detections);
        for (int image = 0; image < byImage.size(); image++) {
            int[] ofImage = byImage.detections(image);
            int[] top = Arrays.copyOf(ofImage, Math.min(ofImage.length, maxDetections));
            match(top, byImage.objects(image));
            explain(top, byImage.objects(image));
            Arrays.stream(top).forEach(counted::set);
        }
        this.byScore = counted.stream().toArray();
        StableSort.descending(byScore, 0, byScore.length, detections::score);
    }

    /** Returns the number of errors of a type; detections in a crowd do not count. */
    int count(DetectionError error) {
        return (int)
                (error == DetectionError.MISSED
                        ? IntStream.range(0, groundTruth.size()).filter(this::missed).count()
                        : Arrays.stream(byScore)
                                .filter(d -> errors[d] == error && !inCrowd.get(d))
                                .count());
    }

    /** Returns AP as if all errors of type {@code fixed} were fixed; the real AP if empty. */
    double averagePrecision(Optional<DetectionError> fixed) {
        int classes = groundTruth.classes().size();
        int[] objects = new int[classes];
        BitSet withObjects = new BitSet();
        boolean withoutMissed = fixed.equals(Optional.of(DetectionError.MISSED));
        for (int g = 0; g < groundTruth.size(); g++) {
            if (!groundTruth.crowd(g)) {
                withObjects.set(groundTruth.label(g));
                objects[groundTruth.label(g)] += withoutMissed && missed(g) ? 0 : 1;
            }
        }
        Ranking[] rankings = new Ranking[classes];
        Arrays.setAll(rankings, label -> new Ranking());
        for (int detection : byScore) {
            rank(detection, fixed, rankings);
        }
        return withObjects.stream()
                .filter(label -> objects[label] > 0 || rankings[label].length > 0)
                .mapToDouble(label -> rankings[label].averagePrecision(objects[label]))
                .average()
                .orElse(0);
    }

    private void rank(int detection, Optional<DetectionError> fixed, Ranking[] rankings) {
        int label = detections.label(detection);
        if (correct.get(detection)) {
            rankings[label].add(true);
        } else if (fixed.equals(Optional.of(errors[detection]))) {
            int object = targets[detection];
            if (object != NONE && fixers[object] == detection) {
                rankings[groundTruth.label(object)].add(true);
            }
        } else if (!inCrowd.get(detection)) {
            rankings[label].add(false);
        }
    }

    /** Returns whether no detection matches an object, even with class or location fixed. */
    private boolean missed(int object) {
        return !groundTruth.crowd(object) && !matched.get(object) && fixers[object] == NONE;
    }

    private void match(int[] ofImage, int[] objects) {
        for (int detection : ofImage) {
            int best = best(detection, objects, g -> sameClass(detection, g) && !matched.get(g));
            if (best != NONE && overlap.iou(detection, best) >= FOREGROUND) {
                correct.set(detection);
                matched.set(best);
            } else {
                inCrowd.set(detection, isInCrowd(detection, objects));
            }
        }
    }

    private boolean isInCrowd(int detection, int[] objects) {
        return Arrays.stream(objects)
                .filter(g -> groundTruth.crowd(g) && sameClass(detection, g))
                .anyMatch(g -> overlap.iou(detection, g) > FOREGROUND);
    }

    private boolean sameClass(int detection, int object) {
        return detections.label(detection) == groundTruth.label(object);
    }

    /** Returns the non-crowd object with the highest IoU that passes {@code kind}. */
    private int best(int detection, int[] objects, IntPredicate kind) {
        int best = NONE;
        double bestIou = 0;
        for (int object : objects) {
            if (groundTruth.crowd(object) || !kind.test(object)) {
                continue;
            }
            double iou = overlap.iou(detection, object);
            if (iou > bestIou) {
                bestIou = iou;
                best = object;
            }
        }
        return best;
    }

    private void explain(int[] ofImage, int[] objects) {
        Arrays.stream(ofImage)
                .filter(detection -> !correct.get(detection))
                .forEach(detection -> explain(detection, objects));
    }

    private void explain(int detection, int[] objects) {
        int own = best(detection, objects, g -> sameClass(detection, g));
        int other = best(detection, objects, g -> !sameClass(detection, g));
        double ownIou = own == NONE ? 0 : overlap.iou(detection, own);
        double otherIou = other == NONE ? 0 : overlap.iou(detection, other);
        if (ownIou >= BACKGROUND && ownIou <= FOREGROUND) {
            errors[detection] = DetectionError.LOCALIZATION;
            fix(detection, own);
        } else if (otherIou >= FOREGROUND) {
            errors[detection] = DetectionError.CLASSIFICATION;
            fix(detection, other);
        } else if (ownIou >= FOREGROUND) {
            errors[detection] = DetectionError.DUPLICATE;
        } else if (otherIou <= BACKGROUND) {
            errors[detection] = DetectionError.BACKGROUND;
        } else {
            errors[detection] = DetectionError.BOTH;
        }
    }

    private void fix(int detection, int object) {
        if (!matched.get(object)) {
            targets[detection] = object;
            if (fixers[object] == NONE) {
                fixers[object] = detection;
            }
        }
    }

    /** Detections of a class by descending score, and whether each is correct. */
    private static final class Ranking {

        private final BitSet correct = new BitSet();
        private int length;

        void add(boolean isCorrect) {
            correct.set(length++, isCorrect);
        }

        /** Returns the mean interpolated precision over COCO's recall thresholds. */
        double averagePrecision(int objects) {
            int[] places = correct.stream().toArray();
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
