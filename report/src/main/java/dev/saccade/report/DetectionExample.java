package dev.saccade.report;

import static com.google.common.collect.ImmutableList.toImmutableList;

import com.google.common.collect.ImmutableList;
import com.google.common.io.ByteSource;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A validation image with ground truth and predicted objects.
 *
 * @param name such as the name of its file
 * @param size of the picture
 * @param jpeg the picture, encoded as JPEG
 * @param truth the labeled objects, boxes in pixels of the picture
 * @param predictions what was found, in descending order of score, boxes in pixels of the picture
 */
public record DetectionExample(
        String name, Size size, ByteSource jpeg, Instances truth, Instances predictions)
        implements Example {

    private static final double IOU = 0.5;

    /**
     * Returns a selection, the worst first: for one half those with the most mistakes, for the
     * other some that are evenly spread over all, and so the same whatever was predicted.
     *
     * @param examples all there are
     * @param count how many at most
     * @param threshold score from which a prediction counts
     */
    public static ImmutableList<DetectionExample> select(
            List<DetectionExample> examples, int count, double threshold) {
        Comparator<Integer> worstFirst =
                Comparator.comparing(i -> -examples.get(i).mistakes(threshold));
        return Examples.select(examples.size(), count, worstFirst).stream()
                .map(examples::get)
                .collect(toImmutableList());
    }

    /** Returns the number of missed objects and false positives. */
    @Override
    public double mistakes(double threshold) {
        return missed(threshold) + wrong(threshold);
    }

    @Override
    public String tally(double threshold) {
        int missed = missed(threshold);
        return Text.format(
                "%d correct, %s, %d missed",
                truth.size() - missed, Count.of(wrong(threshold), "false positive"), missed);
    }

    private int wrong(double threshold) {
        int[] partners = partners();
        return (int)
                IntStream.range(0, partners.length)
                        .filter(i -> partners[i] < 0 && predictions.score(i) >= threshold)
                        .count();
    }

    int missed(double threshold) {
        return (int) truthScores().stream().filter(score -> score < threshold).count();
    }

    /** Returns for each labeled object the score with which it was found, -1 if it was not. */
    ImmutableDoubleArray truthScores() {
        double[] scores = new double[truth.size()];
        Arrays.fill(scores, -1);
        int[] partners = partners();
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
