package dev.saccade.eval.detection;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.ImageIndex;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.PairwiseIou;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Confusion matrix of detections that reach a score. In descending order of score, each detection
 * is matched to the unmatched object of its class with the highest IoU of at least 0.5. The rest
 * are then matched to objects of other classes in the same way, so the diagonal holds COCO's true
 * positives. Unmatched detections outside crowds of their class count in the background row,
 * unmatched objects in the background column.
 *
 * @param counts {@code [K + 1, K + 1]}, object class by detected class; the last row and column are
 *     background
 */
public record ConfusionMatrix(List<String> classes, double score, List<List<Integer>> counts) {

    private static final double IOU = 0.5;

    public ConfusionMatrix {
        classes = ImmutableList.copyOf(classes);
        counts =
                counts.stream().map(ImmutableList::copyOf).collect(ImmutableList.toImmutableList());
    }

    /** A pair of confused classes. */
    public record Confusion(String object, String detection, int count) {}

    /** Computes the confusion matrix of detections that reach {@code score}. */
    public static ConfusionMatrix compute(
            GroundTruth groundTruth, CocoDetections detections, IouType iouType, double score) {
        groundTruth.requireMatching(detections);
        return new Counter(groundTruth, detections, iouType).count(score);
    }

    /** Returns the class index of the background. */
    public int background() {
        return classes.size();
    }

    public int count(int object, int detection) {
        return counts.get(object).get(detection);
    }

    /** Returns all pairs of confused classes, most frequent first. */
    public List<Confusion> confusions() {
        List<Confusion> confusions = new ArrayList<>();
        for (int object = 0; object < classes.size(); object++) {
            for (int detection = 0; detection < classes.size(); detection++) {
                int count = count(object, detection);
                if (object != detection && count > 0) {
                    confusions.add(
                            new Confusion(classes.get(object), classes.get(detection), count));
                }
            }
        }
        confusions.sort(Comparator.comparingInt(Confusion::count).reversed());
        return confusions;
    }

    private static final class Counter {

        private static final int NONE = -1;

        private final GroundTruth groundTruth;
        private final CocoDetections detections;
        private final PairwiseIou overlap;
        private final int background;
        private final int[][] counts;
        private final boolean[] matched;

        Counter(GroundTruth groundTruth, CocoDetections detections, IouType iouType) {
            this.groundTruth = groundTruth;
            this.detections = detections;
            this.overlap = PairwiseIou.of(iouType, groundTruth, detections);
            this.background = groundTruth.classes().size();
            this.counts = new int[background + 1][background + 1];
            this.matched = new boolean[groundTruth.size()];
        }

        ConfusionMatrix count(double score) {
            ImageIndex byImage = new ImageIndex(groundTruth, detections);
            for (int image = 0; image < byImage.size(); image++) {
                int[] confident =
                        Arrays.stream(byImage.detections(image))
                                .filter(d -> detections.score(d) >= score)
                                .toArray();
                count(confident, byImage.objects(image));
            }
            return new ConfusionMatrix(
                    groundTruth.classes(),
                    score,
                    Arrays.stream(counts).map(row -> Arrays.stream(row).boxed().toList()).toList());
        }

        private void count(int[] confident, int[] objects) {
            int[] left =
                    Arrays.stream(confident)
                            .filter(d -> !match(d, objects, g -> sameClass(d, g)))
                            .toArray();
            for (int detection : left) {
                if (!match(detection, objects, g -> true) && !isInCrowd(detection, objects)) {
                    counts[background][detections.label(detection)]++;
                }
            }
            for (int object : objects) {
                if (!matched[object] && !groundTruth.crowd(object)) {
                    counts[groundTruth.label(object)][background]++;
                }
            }
        }

        private boolean sameClass(int detection, int object) {
            return detections.label(detection) == groundTruth.label(object);
        }

        private boolean match(int detection, int[] objects, IntPredicate filter) {
            int best = NONE;
            double bestIou = IOU;
            for (int object : objects) {
                if (!matched[object] && !groundTruth.crowd(object) && filter.test(object)) {
                    double iou = overlap.iou(detection, object);
                    if (iou >= bestIou) {
                        bestIou = iou;
                        best = object;
                    }
                }
            }
            if (best == NONE) {
                return false;
            }
            matched[best] = true;
            counts[groundTruth.label(best)][detections.label(detection)]++;
            return true;
        }

        private boolean isInCrowd(int detection, int[] objects) {
            return Arrays.stream(objects)
                    .filter(g -> groundTruth.crowd(g) && sameClass(detection, g))
                    .anyMatch(g -> overlap.iou(detection, g) >= IOU);
        }
    }
}
