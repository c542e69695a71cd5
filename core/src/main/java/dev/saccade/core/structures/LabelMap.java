package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedMap;

import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The class of every pixel of an image.
 *
 * <p>Classes count from 0; a pixel may also be {@link #IGNORE}. Immutable.
 */
public final class LabelMap {

    /** The label of a pixel that is neither learned nor measured. */
    public static final int IGNORE = -1;

    /** Classes are below this. */
    public static final int MOST_CLASSES = 0xFFFF;

    private final Size size;
    private final short[] labels;

    private LabelMap(Size size, short[] labels) {
        this.size = size;
        this.labels = labels;
    }

    /**
     * Returns a map of given labels.
     *
     * @param labels [H * W] row by row, unsigned, {@code 0xFFFF} for {@link #IGNORE}; not copied,
     *     so the caller must not change it afterwards
     */
    public static LabelMap of(Size size, short[] labels) {
        checkArgument(labels.length == size.area(), "%s labels for %s pixels", labels.length, size);
        return new LabelMap(size, labels);
    }

    /** Returns a map with one label everywhere. */
    public static LabelMap filled(Size size, int label) {
        short[] labels = new short[Math.toIntExact(size.area())];
        Arrays.fill(labels, (short) label);
        return new LabelMap(size, labels);
    }

    /** Returns height and width. */
    public Size size() {
        return size;
    }

    /** Returns the class of a pixel, or {@link #IGNORE}. */
    public int get(int row, int column) {
        return label(labels[row * size.width() + column]);
    }

    private static int label(short stored) {
        return stored == (short) IGNORE ? IGNORE : Short.toUnsignedInt(stored);
    }

    /**
     * Returns the map at another size; pixel {@code d} is that at {@code floor(d * old / new)}, as
     * OpenCV's nearest neighbor.
     */
    public LabelMap resize(Size target) {
        if (target.equals(size)) {
            return this;
        }
        int[] from = new int[target.width()];
        double step = 1 / ((double) target.width() / size.width());
        for (int x = 0; x < from.length; x++) {
            from[x] = Math.min((int) (x * step), size.width() - 1);
        }
        double rowStep = 1 / ((double) target.height() / size.height());
        short[] resized = new short[Math.toIntExact(target.area())];
        for (int y = 0; y < target.height(); y++) {
            int row = Math.min((int) (y * rowStep), size.height() - 1) * size.width();
            int start = y * target.width();
            for (int x = 0; x < from.length; x++) {
                resized[start + x] = labels[row + from[x]];
            }
        }
        return new LabelMap(target, resized);
    }

    /** Returns the part of the map in a window that lies inside it. */
    public LabelMap crop(int top, int left, Size part) {
        checkArgument(
                top >= 0
                        && left >= 0
                        && top + part.height() <= size.height()
                        && left + part.width() <= size.width(),
                "a window of %s at row %s, column %s leaves a map of %s",
                part,
                top,
                left,
                size);
        short[] cropped = new short[Math.toIntExact(part.area())];
        for (int y = 0; y < part.height(); y++) {
            int row = (top + y) * size.width() + left;
            System.arraycopy(labels, row, cropped, y * part.width(), part.width());
        }
        return new LabelMap(part, cropped);
    }

    /** Returns the map mirrored left to right. */
    public LabelMap flipHorizontal() {
        short[] flipped = new short[labels.length];
        for (int row = 0; row < labels.length; row += size.width()) {
            for (int x = 0; x < size.width(); x++) {
                flipped[row + x] = labels[row + size.width() - 1 - x];
            }
        }
        return new LabelMap(size, flipped);
    }

    /** Returns the map mirrored top to bottom. */
    public LabelMap flipVertical() {
        short[] flipped = new short[labels.length];
        for (int y = 0; y < size.height(); y++) {
            int from = (size.height() - 1 - y) * size.width();
            System.arraycopy(labels, from, flipped, y * size.width(), size.width());
        }
        return new LabelMap(size, flipped);
    }

    /** Returns the map with {@link #IGNORE} right of and below it, up to a size that covers it. */
    public LabelMap pad(Size padded) {
        if (padded.equals(size)) {
            return this;
        }
        short[] larger = new short[Math.toIntExact(padded.area())];
        Arrays.fill(larger, (short) IGNORE);
        for (int y = 0; y < size.height(); y++) {
            System.arraycopy(labels, y * size.width(), larger, y * padded.width(), size.width());
        }
        return new LabelMap(padded, larger);
    }

    /**
     * Returns how many pixels each class has.
     *
     * @param classes number of classes
     * @return [classes + 1]; the last counts {@link #IGNORE}
     * @throws IllegalArgumentException if a label is no class
     */
    public long[] histogram(int classes) {
        long[] counts = new long[classes + 1];
        for (short stored : labels) {
            int label = label(stored);
            checkArgument(label < classes, "label %s of %s classes", label, classes);
            counts[label == IGNORE ? classes : label]++;
        }
        return counts;
    }

    /**
     * Returns the map with {@link #IGNORE} where another has it.
     *
     * @param other of the same size
     */
    public LabelMap ignoringWhere(LabelMap other) {
        checkArgument(size.equals(other.size), "a map of %s beside one of %s", other.size, size);
        short[] masked = labels.clone();
        for (int i = 0; i < masked.length; i++) {
            if (other.labels[i] == (short) IGNORE) {
                masked[i] = (short) IGNORE;
            }
        }
        return new LabelMap(size, masked);
    }

    /**
     * Returns the map with the labels of another one in a region.
     *
     * @param region of the size of this map, and within the other
     * @param other with the same upper left corner; may be of another size
     */
    public LabelMap replacedIn(Rle region, LabelMap other) {
        checkArgument(size.equals(region.size()), "a map of %s, a mask of %s", size, region.size());
        short[] replaced = labels.clone();
        region.forEachStretch(
                (x, top, bottom) -> {
                    for (int y = top; y < bottom; y++) {
                        replaced[y * size.width() + x] = other.labels[y * other.size.width() + x];
                    }
                });
        return new LabelMap(size, replaced);
    }

    /** Returns the region of each class that has one, by ascending label. */
    public SortedMap<Integer, Rle> masks() {
        Map<Integer, RunBuilder> regions = new TreeMap<>();
        int position = 0;
        int last = IGNORE;
        for (int x = 0; x < size.width(); x++) {
            for (int y = 0; y < size.height(); y++, position++) {
                int label = get(y, x);
                if (label != last) {
                    fill(regions, last, position, true);
                    fill(regions, label, position, false);
                    last = label;
                }
            }
        }
        fill(regions, last, position, true);
        ImmutableSortedMap.Builder<Integer, Rle> masks = ImmutableSortedMap.naturalOrder();
        for (int label : regions.keySet()) {
            fill(regions, label, position, false);
            masks.put(label, regions.get(label).build());
        }
        return masks.build();
    }

    private void fill(
            Map<Integer, RunBuilder> regions, int label, int position, boolean foreground) {
        if (label != IGNORE) {
            regions.computeIfAbsent(label, any -> new RunBuilder(size)).fill(position, foreground);
        }
    }

    /**
     * Returns how many of the pixels that are not {@link #IGNORE} belong to the class that has most
     * of them: above 0 to 1; 1 if all are ignored.
     */
    public double largestShare() {
        int[] counts = new int[MOST_CLASSES + 1];
        for (short stored : labels) {
            counts[Short.toUnsignedInt(stored)]++;
        }
        int counted = labels.length - counts[MOST_CLASSES];
        int most = Arrays.stream(counts, 0, MOST_CLASSES).max().orElse(0);
        return counted == 0 ? 1 : (double) most / counted;
    }

    /** Writes the labels row by row, as numbers of 64 bits. */
    public void write(LongBuffer target) {
        for (short stored : labels) {
            target.put(label(stored));
        }
    }

    /** Returns a copy of the labels, row by row; as unsigned numbers, {@code 0xFFFF} ignored. */
    public short[] toArray() {
        return labels.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LabelMap map
                && map.size.equals(size)
                && Arrays.equals(map.labels, labels);
    }

    @Override
    public int hashCode() {
        return 31 * size.hashCode() + Arrays.hashCode(labels);
    }

    @Override
    public String toString() {
        return "LabelMap[" + size + "]";
    }
}
