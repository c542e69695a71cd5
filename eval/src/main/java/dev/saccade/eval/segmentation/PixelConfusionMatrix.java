package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;

import dev.saccade.core.structures.LabelMap;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Confusion matrix of pixels over label maps; pixels that the ground truth ignores do not count. A
 * predicted index outside the classes is an error of the true class only. Thread-safe.
 */
public final class PixelConfusionMatrix {

    private final int classes;
    private final long[] counts;

    public PixelConfusionMatrix(int classes) {
        checkArgument(
                classes > 0 && classes <= LabelMap.MAX_CLASSES,
                "expected 1 to %s classes, got %s",
                LabelMap.MAX_CLASSES,
                classes);
        this.classes = classes;
        this.counts = new long[(classes + 1) * (classes + 1)];
    }

    /** Adds a ground-truth map and a prediction of the same size. */
    public void add(LabelMap truth, LabelMap predicted) {
        checkArgument(
                truth.size().equals(predicted.size()),
                "got a prediction of %s for a label map of %s",
                predicted.size(),
                truth.size());
        short[] rows = truth.toArray();
        short[] columns = predicted.toArray();
        int[] counted = new int[counts.length];
        int edge = classes + 1;
        for (int i = 0; i < rows.length; i++) {
            int row = Math.min(Short.toUnsignedInt(rows[i]), classes);
            counted[row * edge + Math.min(Short.toUnsignedInt(columns[i]), classes)]++;
        }
        add(counted);
    }

    synchronized void add(PixelConfusionMatrix others) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += others.counts[i];
        }
    }

    private synchronized void add(int[] counted) {
        for (int i = 0; i < counted.length; i++) {
            counts[i] += counted[i];
        }
    }

    void write(ByteArrayDataOutput out) {
        for (long count : counts) {
            out.writeLong(count);
        }
    }

    void add(ByteArrayDataInput in) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += in.readLong();
        }
    }

    public int classes() {
        return classes;
    }

    /** Returns the number of pixels of class {@code truth} predicted as {@code predicted}. */
    public long count(int truth, int predicted) {
        return counts[truth * (classes + 1) + predicted];
    }

    /** Returns all counts, [classes, classes]: ground truth by prediction. */
    public List<List<Long>> rows() {
        return IntStream.range(0, classes)
                .mapToObj(
                        truth ->
                                IntStream.range(0, classes)
                                        .mapToObj(predicted -> count(truth, predicted))
                                        .toList())
                .toList();
    }

    /** Returns the number of ground-truth pixels of a class. */
    public long truth(int label) {
        long sum = 0;
        for (int predicted = 0; predicted <= classes; predicted++) {
            sum += count(label, predicted);
        }
        return sum;
    }

    /** Returns the mean IoU over the classes that are labeled or predicted; NaN if none are. */
    public double meanIou() {
        double sum = 0;
        int present = 0;
        for (int label = 0; label < classes; label++) {
            long either = truth(label) + predicted(label) - count(label, label);
            if (either > 0) {
                sum += (double) count(label, label) / either;
                present++;
            }
        }
        return sum / present;
    }

    /** Returns the number of pixels predicted as a class. */
    public long predicted(int label) {
        long sum = 0;
        for (int truth = 0; truth < classes; truth++) {
            sum += count(truth, label);
        }
        return sum;
    }
}
