package dev.saccade.eval.labelerrors;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.PairwiseIou;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Labels and detections of an image. */
final class ImageComparison {

    private static final double MATCH_IOU = 0.5;

    /** Minimum IoU of a label and a detection of the same object. */
    private static final double PAIR_IOU = 0.2;

    /** Boxes with a higher IoU are as accurate as most labels. */
    private static final double MAX_BOX_IOU = 0.75;

    /** Weight of a pair of different classes. */
    private static final double OTHER_CLASS = 0.8;

    private static final int NONE = -1;

    private final GroundTruth groundTruth;
    private final CocoDetections detections;
    private final int image;

    /** Indices of the labels without crowds, and of the detections by descending score. */
    private final int[] objects;

    private final int[] found;

    /** [detection][label]. */
    private final double[][] ious;

    private final boolean[] isInCrowd;

    ImageComparison(
            GroundTruth groundTruth,
            CocoDetections detections,
            PairwiseIou iou,
            int image,
            int[] labels,
            int[] found) {
        this.groundTruth = groundTruth;
        this.detections = detections;
        this.image = image;
        this.objects = Arrays.stream(labels).filter(o -> !groundTruth.crowd(o)).toArray();
        this.found = found;
        this.ious = new double[found.length][objects.length];
        this.isInCrowd = new boolean[found.length];
        for (int d = 0; d < found.length; d++) {
            for (int o = 0; o < objects.length; o++) {
                ious[d][o] = iou.iou(found[d], objects[o]);
            }
            int detection = found[d];
            isInCrowd[d] =
                    Arrays.stream(labels)
                            .filter(groundTruth::crowd)
                            .anyMatch(o -> iou.iou(detection, o) >= MATCH_IOU);
        }
    }

    /** Adds this image to the statistics of each class. */
    void addTo(List<ClassStatistics> statistics) {
        boolean[] isMatched = new boolean[objects.length];
        for (int d = 0; d < found.length; d++) {
            int match = NONE;
            double best = MATCH_IOU;
            for (int o = 0; o < objects.length; o++) {
                if (!isMatched[o] && isSameClass(d, o) && ious[d][o] >= best) {
                    best = ious[d][o];
                    match = o;
                }
            }
            ClassStatistics ofClass = statistics.get(label(d));
            if (match != NONE) {
                isMatched[match] = true;
                ofClass.addIou(best);
            }
            if (match != NONE || !isInCrowd[d]) {
                ofClass.addDetection(score(d), match != NONE);
            }
        }
        for (int o = 0; o < objects.length; o++) {
            statistics.get(groundTruth.label(objects[o])).addLabel(support(o));
        }
    }

    /** Returns a suspect for each label, and for each detection without a label. */
    List<LabelError> suspects(Suspicion suspicion) {
        int[] pairs = pairs(suspicion);
        List<LabelError> suspects = new ArrayList<>();
        for (int o = 0; o < objects.length; o++) {
            suspects.add(suspect(o, pairs[o], suspicion));
        }
        boolean[] isPaired = new boolean[found.length];
        Arrays.stream(pairs).filter(d -> d != NONE).forEach(d -> isPaired[d] = true);
        for (int d = 0; d < found.length; d++) {
            double overlap = overlap(d);
            if (!isPaired[d] && !isInCrowd[d] && overlap < MATCH_IOU) {
                double odds = suspicion.missing(label(d), score(d), overlap);
                suspects.add(error(LabelErrorKind.MISSING, odds, NONE, d));
            }
        }
        return suspects;
    }

    /** Pairs each label with at most one detection, most precise and best overlapping first. */
    private int[] pairs(Suspicion suspicion) {
        record Pair(int detection, int object, double weight) {}
        List<Pair> candidates = new ArrayList<>();
        for (int d = 0; d < found.length; d++) {
            double precision = suspicion.precisions().get(label(d)).at(score(d));
            for (int o = 0; o < objects.length; o++) {
                if (ious[d][o] >= PAIR_IOU) {
                    double weight = precision * ious[d][o] * (isSameClass(d, o) ? 1 : OTHER_CLASS);
                    candidates.add(new Pair(d, o, weight));
                }
            }
        }
        candidates.sort(Comparator.comparingDouble(Pair::weight).reversed());
        int[] pairs = new int[objects.length];
        Arrays.fill(pairs, NONE);
        boolean[] isPaired = new boolean[found.length];
        for (Pair pair : candidates) {
            if (pairs[pair.object] == NONE && !isPaired[pair.detection]) {
                pairs[pair.object] = pair.detection;
                isPaired[pair.detection] = true;
            }
        }
        return pairs;
    }

    private LabelError suspect(int o, int pair, Suspicion suspicion) {
        int label = groundTruth.label(objects[o]);
        double support = support(o);
        LabelError most =
                error(LabelErrorKind.SPURIOUS, suspicion.spurious(label, support), o, NONE);
        if (pair != NONE && isSameClass(pair, o) && ious[pair][o] <= MAX_BOX_IOU) {
            double odds = suspicion.badBox(label, support, score(pair), ious[pair][o]);
            most = higher(most, error(LabelErrorKind.BOX, odds, o, pair));
        }
        for (int d = 0; d < found.length; d++) {
            if (!isSameClass(d, o) && ious[d][o] >= MATCH_IOU) {
                double odds = suspicion.wrongClass(label, support, label(d), score(d));
                most = higher(most, error(LabelErrorKind.CLASS, odds, o, d));
            }
        }
        return most;
    }

    private static LabelError higher(LabelError a, LabelError b) {
        return b.score() > a.score() ? b : a;
    }

    private LabelError error(LabelErrorKind kind, double logOdds, int o, int d) {
        Optional<Annotation> label =
                o == NONE ? Optional.empty() : Optional.of(groundTruth.object(objects[o]));
        Optional<LabelError.Prediction> prediction =
                d == NONE
                        ? Optional.empty()
                        : Optional.of(
                                new LabelError.Prediction(
                                        label(d), score(d), detections.box(found[d])));
        return new LabelError(image, kind, 1 / (1 + Math.exp(-logOdds)), label, prediction);
    }

    /** Returns the highest score of the label's class at IoU 0.5, 0 if there is none. */
    private double support(int o) {
        return IntStream.range(0, found.length)
                .filter(d -> isSameClass(d, o) && ious[d][o] >= MATCH_IOU)
                .mapToDouble(this::score)
                .max()
                .orElse(0);
    }

    /** Returns the highest IoU of a detection with a label or a detection of higher score. */
    private double overlap(int d) {
        double labels = Arrays.stream(ious[d]).max().orElse(0);
        double others =
                IntStream.range(0, d)
                        .mapToDouble(o -> iou(detections.box(found[d]), detections.box(found[o])))
                        .max()
                        .orElse(0);
        return Math.max(labels, others);
    }

    private static double iou(Annotation.Bbox a, Annotation.Bbox b) {
        double width = Math.min(a.x() + a.width(), b.x() + b.width()) - Math.max(a.x(), b.x());
        double height = Math.min(a.y() + a.height(), b.y() + b.height()) - Math.max(a.y(), b.y());
        double shared = Math.max(width, 0) * Math.max(height, 0);
        return shared == 0 ? 0 : shared / (a.area() + b.area() - shared);
    }

    private boolean isSameClass(int d, int o) {
        return label(d) == groundTruth.label(objects[o]);
    }

    private int label(int d) {
        return detections.label(found[d]);
    }

    private double score(int d) {
        return detections.score(found[d]);
    }
}
