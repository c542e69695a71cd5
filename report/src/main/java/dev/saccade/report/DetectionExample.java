package dev.saccade.report;

import static com.google.common.collect.ImmutableList.toImmutableList;

import com.google.common.collect.ImmutableList;
import com.google.common.io.ByteSource;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A held-back picture, what is on it, and what was found.
 *
 * @param name such as the name of its file
 * @param size of the picture
 * @param jpeg the picture, encoded as JPEG
 * @param truth the labeled objects, boxes in pixels of the picture
 * @param predictions what was found, in descending order of score, boxes in pixels of the picture
 */
public record DetectionExample(
        String name, Size size, ByteSource jpeg, Instances truth, Instances predictions) {

    private static final double IOU = 0.5;

    /**
     * Returns a selection from the best to the worst, evenly spread.
     *
     * @param examples all there are
     * @param count how many at most
     * @param threshold score from which a prediction counts
     */
    public static ImmutableList<DetectionExample> select(
            List<DetectionExample> examples, int count, double threshold) {
        List<DetectionExample> ranked =
                examples.stream()
                        .sorted(Comparator.comparingDouble(e -> -e.agreement(threshold)))
                        .toList();
        int kept = Math.min(count, ranked.size());
        return IntStream.range(0, kept)
                .mapToObj(i -> ranked.get(kept == 1 ? 0 : i * (ranked.size() - 1) / (kept - 1)))
                .collect(toImmutableList());
    }

    /**
     * Returns how well predictions and truth agree: the share of boxes, of both kinds, that have a
     * partner (the F1 score); 1 if there are none at all.
     */
    double agreement(double threshold) {
        long found = truthScores().stream().filter(score -> score >= threshold).count();
        long predicted =
                IntStream.range(0, predictions.size())
                        .filter(i -> predictions.score(i) >= threshold)
                        .count();
        long boxes = predicted + truth.size();
        return boxes == 0 ? 1 : 2.0 * found / boxes;
    }

    /** Returns for each labeled object the score with which it was found, -1 if it was not. */
    ImmutableDoubleArray truthScores() {
        double[] scores = new double[truth.size()];
        int[] partners = partners();
        for (int i = 0; i < scores.length; i++) {
            scores[i] = -1;
        }
        for (int i = 0; i < partners.length; i++) {
            if (partners[i] >= 0) {
                scores[partners[i]] = predictions.score(i);
            }
        }
        return ImmutableDoubleArray.copyOf(scores);
    }

    /**
     * Returns for each prediction the labeled object that it found, -1 for none: from the highest
     * score down, the free object of its class that it overlaps most, if by an IoU of 0.5.
     */
    int[] partners() {
        int[] partners = new int[predictions.size()];
        boolean[] taken = new boolean[truth.size()];
        for (int i = 0; i < partners.length; i++) {
            partners[i] = -1;
            double best = IOU;
            for (int j = 0; j < taken.length; j++) {
                boolean candidate = !taken[j] && truth.label(j) == predictions.label(i);
                double iou = candidate ? iou(predictions.boxes(), i, truth.boxes(), j) : 0;
                if (iou >= best) {
                    best = iou;
                    partners[i] = j;
                }
            }
            if (partners[i] >= 0) {
                taken[partners[i]] = true;
            }
        }
        return partners;
    }

    private static double iou(Boxes a, int i, Boxes b, int j) {
        double width = Math.min(a.x2(i), b.x2(j)) - Math.max(a.x1(i), b.x1(j));
        double height = Math.min(a.y2(i), b.y2(j)) - Math.max(a.y1(i), b.y1(j));
        double shared = Math.max(width, 0) * Math.max(height, 0);
        return shared / (a.area(i) + b.area(j) - shared);
    }
}
