package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.eval.bootstrap.ResampledMetric;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Average precision of resampled images, without matching again: a detection of an image that
 * occurs n times counts n times. Equal to {@link CocoMetrics} on a data set with copies of images.
 */
final class ResampledAp implements ResampledMetric {

    private static final ImmutableDoubleArray RECALLS = CocoParameters.RECALL_THRESHOLDS;
    private static final double EPSILON = Math.ulp(1.0);

    /**
     * Detections of a class by descending score, and its objects.
     *
     * @param images image of each detection
     * @param statuses bit t is set if true positive, bit T + t if false positive, at threshold t
     * @param objects number of counted objects of each image
     */
    private record ClassResults(
            ImmutableIntArray images, ImmutableIntArray statuses, ImmutableIntArray objects) {}

    private final int images;
    private final List<ClassResults> classes;
    private final int firstThreshold;
    private final int endThreshold;
    private double[] precisionAt = new double[0];
    private double[] recallAt = new double[0];

    /** Prepares the mean over the IoU thresholds from {@code first} to {@code end}, exclusive. */
    ResampledAp(Matches matches, int classes, int first, int end) {
        this.images = matches.imageCount();
        this.classes = IntStream.range(0, classes).mapToObj(k -> ofClass(matches, k)).toList();
        this.firstThreshold = first;
        this.endThreshold = end;
    }

    private static ClassResults ofClass(Matches matches, int k) {
        ClassImageIndex cells = matches.detectionCells;
        int[] slots = matches.slots(k);
        int t = CocoParameters.IOU_THRESHOLDS.length();
        int[] images = new int[slots.length];
        int[] statuses = new int[slots.length];
        for (int i = 0; i < slots.length; i++) {
            images[i] = cells.cell(slots[i]) - matches.firstCell(k);
            for (int bit = 0; bit < t; bit++) {
                statuses[i] |=
                        switch (matches.status(AreaRange.ALL, slots[i], bit)) {
                            case TRUE_POSITIVE -> 1 << bit;
                            case FALSE_POSITIVE -> 1 << (t + bit);
                            case IGNORED -> 0;
                        };
            }
        }
        return new ClassResults(
                ImmutableIntArray.copyOf(images),
                ImmutableIntArray.copyOf(statuses),
                ImmutableIntArray.copyOf(matches.objectsPerImage(k)));
    }

    @Override
    public int images() {
        return images;
    }

    @Override
    public double value(int[] counts) {
        double sum = 0;
        int defined = 0;
        for (ClassResults results : classes) {
            long objects = 0;
            for (int i = 0; i < images; i++) {
                objects += (long) counts[i] * results.objects.get(i);
            }
            for (int t = firstThreshold; objects > 0 && t < endThreshold; t++) {
                sum += averagePrecision(results, counts, t, objects);
                defined++;
            }
        }
        return defined == 0 ? Double.NaN : sum / defined;
    }

    private double averagePrecision(ClassResults results, int[] counts, int t, long objects) {
        int size = results.images.length();
        if (precisionAt.length < size) {
            precisionAt = new double[size];
            recallAt = new double[size];
        }
        int falsePositive = CocoParameters.IOU_THRESHOLDS.length() + t;
        double right = 0;
        double wrong = 0;
        for (int i = 0; i < size; i++) {
            int count = counts[results.images.get(i)];
            right += count * (results.statuses.get(i) >> t & 1);
            wrong += count * (results.statuses.get(i) >> falsePositive & 1);
            recallAt[i] = right / objects;
            precisionAt[i] = right / (wrong + right + EPSILON);
        }
        for (int i = size - 2; i >= 0; i--) {
            precisionAt[i] = Math.max(precisionAt[i], precisionAt[i + 1]);
        }
        double sum = 0;
        int i = 0;
        for (int r = 0; r < RECALLS.length(); r++) {
            while (i < size && recallAt[i] < RECALLS.get(r)) {
                i++;
            }
            sum += i < size ? precisionAt[i] : 0;
        }
        return sum / RECALLS.length();
    }
}
