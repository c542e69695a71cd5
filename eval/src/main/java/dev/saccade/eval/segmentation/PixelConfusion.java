package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;

import dev.saccade.core.structures.LabelMap;

import java.util.List;
import java.util.stream.IntStream;

/**
 * How many pixels of which class were taken for which, over any number of label maps.
 *
 * <p>Pixels that the ground truth ignores do not count. A predicted label that is no class takes a
 * pixel for nothing. Threads may add maps at the same time.
 */
public final class PixelConfusion {

    private final int classes;
    private final long[] counts;

    /** Starts with no pixel. */
    public PixelConfusion(int classes) {
        checkArgument(
                classes > 0 && classes <= LabelMap.MAX_CLASSES,
                "1 to %s classes expected, got %s",
                LabelMap.MAX_CLASSES,
                classes);
        this.classes = classes;
        this.counts = new long[(classes + 1) * (classes + 1)];
    }

    /**
     * Counts the pixels of a map.
     *
     * @param predicted of the size of the ground truth
     */
    public void add(LabelMap truth, LabelMap predicted) {
        checkArgument(
                truth.size().equals(predicted.size()),
                "a prediction of %s for a label map of %s",
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

    /** Adds the counts of other maps. */
    synchronized void add(PixelConfusion others) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += others.counts[i];
        }
    }

    private synchronized void add(int[] counted) {
        for (int i = 0; i < counted.length; i++) {
            counts[i] += counted[i];
        }
    }

    /** Writes the counts, for {@link #add(ByteArrayDataInput)}. */
    void write(ByteArrayDataOutput out) {
        for (long count : counts) {
            out.writeLong(count);
        }
    }

    /** Adds the counts of other maps. */
    void add(ByteArrayDataInput in) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += in.readLong();
        }
    }

    /** Returns the number of classes. */
    public int classes() {
        return classes;
    }

    /** Returns how many pixels of a class were taken for a class. */
    public long count(int truth, int predicted) {
        return counts[truth * (classes + 1) + predicted];
    }

    /**
     * Returns all counts, a row for each class that pixels are of, a column for each class that
     * they were taken for: [classes, classes].
     */
    public List<List<Long>> rows() {
        return IntStream.range(0, classes)
                .mapToObj(
                        truth ->
                                IntStream.range(0, classes)
                                        .mapToObj(predicted -> count(truth, predicted))
                                        .toList())
                .toList();
    }

    /** Returns how many pixels are of a class. */
    public long truth(int label) {
        long sum = 0;
        for (int predicted = 0; predicted <= classes; predicted++) {
            sum += count(label, predicted);
        }
        return sum;
    }

    /**
     * Returns the mean IoU of the classes that pixels are of or were taken for, NaN if there are
     * none: how well a single photograph does.
     */
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

    /** Returns how many pixels were taken for a class. */
    public long predicted(int label) {
        long sum = 0;
        for (int truth = 0; truth < classes; truth++) {
            sum += count(truth, label);
        }
        return sum;
    }
}
