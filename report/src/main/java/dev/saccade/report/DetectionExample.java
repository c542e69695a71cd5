package dev.saccade.report;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A validation image (base64 JPEG), its labels, and its detections, highest score first.
 *
 * @param crowds regions of a class; unmatched detections of the class in them are ignored
 */
public record DetectionExample(
        String name,
        Size size,
        String jpeg,
        Instances truth,
        Instances crowds,
        Instances predictions)
        implements Example {

    static final int IGNORED = -2;

    private static final int UNMATCHED = -1;
    private static final double IOU = 0.5;

    /** Returns up to {@code count} indices, most errors first; see {@link Examples#select}. */
    public static List<Integer> select(
            List<DetectionExample> examples, int count, double threshold) {
        Comparator<Integer> worstFirst =
                Comparator.comparing(i -> -examples.get(i).errors(threshold));
        return Examples.select(examples.size(), count, worstFirst);
    }

    public DetectionExample withJpeg(String base64) {
        return new DetectionExample(name, size, base64, truth, crowds, predictions);
    }

    /** Returns the number of missed objects and false positives. */
    @Override
    public double errors(double threshold) {
        return missed(threshold) + falsePositives(threshold);
    }

    @Override
    public String summary(double threshold) {
        int missed = missed(threshold);
        return Text.format(
                "%d correct, %s, %d missed",
                truth.size() - missed,
                Count.of(falsePositives(threshold), "false positive"),
                missed);
    }

    @Override
    public boolean hasIgnored() {
        return Arrays.stream(matches()).anyMatch(match -> match == IGNORED);
    }

    /** Returns the class index of each object with a mask. */
    @Override
    public IntStream legend() {
        return Stream.of(truth, predictions)
                .filter(Instances::hasMasks)
                .flatMapToInt(objects -> Arrays.stream(objects.labels()));
    }

    @Override
    public void writeTruth(Markup out, Examples all, String id) {
        new DetectionDrawing(out, all, this).writeTruth(id);
    }

    @Override
    public void writePredictions(Markup out, Examples all, String id) {
        new DetectionDrawing(out, all, this).writePredictions(id);
    }

    private int falsePositives(double threshold) {
        int[] matches = matches();
        return (int)
                IntStream.range(0, matches.length)
                        .filter(i -> matches[i] == UNMATCHED && predictions.score(i) >= threshold)
                        .count();
    }

    int missed(double threshold) {
        return (int) Arrays.stream(truthScores()).filter(score -> score < threshold).count();
    }

    /** Returns the score of the detection matched with each labeled object, or -1 if missed. */
    double[] truthScores() {
        double[] scores = new double[truth.size()];
        Arrays.fill(scores, -1);
        int[] matches = matches();
        for (int i = 0; i < matches.length; i++) {
            if (matches[i] >= 0) {
                scores[matches[i]] = predictions.score(i);
            }
        }
        return scores;
    }

    /**
     * Matches each detection, highest score first, with the unmatched object of its class with the
     * highest IoU, at least 0.5. Returns the object index of each detection, {@link #IGNORED} if at
     * least half of its box is in a crowd of its class, or -1.
     */
    int[] matches() {
        int[] matches = new int[predictions.size()];
        boolean[] taken = new boolean[truth.size()];
        for (int i = 0; i < matches.length; i++) {
            matches[i] = UNMATCHED;
            double best = IOU;
            for (int j = 0; j < taken.length; j++) {
                boolean candidate = !taken[j] && truth.label(j) == predictions.label(i);
                double iou = candidate ? iou(predictions.boxes(), i, truth.boxes(), j) : 0;
                if (iou >= best) {
                    best = iou;
                    matches[i] = j;
                }
            }
            if (matches[i] >= 0) {
                taken[matches[i]] = true;
            } else if (isInCrowd(i)) {
                matches[i] = IGNORED;
            }
        }
        return matches;
    }

    private boolean isInCrowd(int i) {
        Boxes boxes = predictions.boxes();
        return IntStream.range(0, crowds.size())
                .filter(j -> crowds.label(j) == predictions.label(i))
                .anyMatch(j -> shared(boxes, i, crowds.boxes(), j) >= IOU * boxes.area(i));
    }

    private static double iou(Boxes a, int i, Boxes b, int j) {
        double shared = shared(a, i, b, j);
        return shared / (a.area(i) + b.area(j) - shared);
    }

    private static double shared(Boxes a, int i, Boxes b, int j) {
        double width = Math.min(a.x2(i), b.x2(j)) - Math.max(a.x1(i), b.x1(j));
        double height = Math.min(a.y2(i), b.y2(j)) - Math.max(a.y1(i), b.y1(j));
        return Math.max(width, 0) * Math.max(height, 0);
    }
}
