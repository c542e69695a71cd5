package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedMap;

import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Immutable class index of every pixel of an image: 0 or more, or {@link #IGNORE}. */
public final class LabelMap {

    /** Label of pixels that are excluded from training and evaluation. */
    public static final int IGNORE = -1;

    /** Exclusive upper bound of class indices. */
    public static final int MAX_CLASSES = 0xFFFF;

    private final Size size;
    private final short[] labels;

    private LabelMap(Size size, short[] labels) {
        this.size = size;
        this.labels = labels;
    }

    /** Wraps row-major unsigned labels without copying; {@code 0xFFFF} is {@link #IGNORE}. */
    public static LabelMap of(Size size, short[] labels) {
        checkArgument(
                labels.length == size.area(), "got %s labels for a map of %s", labels.length, size);
        return new LabelMap(size, labels);
    }

    public static LabelMap filled(Size size, int label) {
        short[] labels = new short[Math.toIntExact(size.area())];
        Arrays.fill(labels, (short) label);
        return new LabelMap(size, labels);
    }

    public Size size() {
        return size;
    }

    public int get(int row, int column) {
        return label(labels[row * size.width() + column]);
    }

    private static int label(short stored) {
        return stored == (short) IGNORE ? IGNORE : Short.toUnsignedInt(stored);
    }

    /** Resizes like OpenCV's {@code INTER_NEAREST}: pixel d copies {@code floor(d * old / new)}. */
    public LabelMap resize(Size target) {
        return target.equals(size)
                ? this
                : pick(
                        target,
                        nearest(size.height(), target.height()),
                        nearest(size.width(), target.width()));
    }

    private static IntUnaryOperator nearest(int cells, int pixels) {
        double step = 1 / ((double) pixels / cells);
        return i -> Math.min((int) (i * step), cells - 1);
    }

    private LabelMap pick(Size target, IntUnaryOperator row, IntUnaryOperator column) {
        int[] columns = IntStream.range(0, target.width()).map(column).toArray();
        short[] picked = new short[Math.toIntExact(target.area())];
        for (int y = 0; y < target.height(); y++) {
            int from = row.applyAsInt(y) * size.width();
            int to = y * target.width();
            for (int x = 0; x < columns.length; x++) {
                picked[to + x] = labels[from + columns[x]];
            }
        }
        return new LabelMap(target, picked);
    }

    /** Returns a crop, which must be inside the map. */
    public LabelMap crop(int top, int left, Size part) {
        checkArgument(
                top >= 0
                        && left >= 0
                        && top + part.height() <= size.height()
                        && left + part.width() <= size.width(),
                "a crop of %s at row %s, column %s exceeds the label map of %s",
                part,
                top,
                left,
                size);
        return window(top, left, part);
    }

    /** Returns a window that starts inside the map; pixels outside the map are {@link #IGNORE}. */
    private LabelMap window(int top, int left, Size part) {
        int width = Math.min(part.width(), size.width() - left);
        int height = Math.min(part.height(), size.height() - top);
        LabelMap window = filled(part, IGNORE);
        for (int y = 0; y < height; y++) {
            int row = (top + y) * size.width() + left;
            System.arraycopy(labels, row, window.labels, y * part.width(), width);
        }
        return window;
    }

    public LabelMap flipHorizontal() {
        return pick(size, y -> y, x -> size.width() - 1 - x);
    }

    public LabelMap flipVertical() {
        return pick(size, y -> size.height() - 1 - y, x -> x);
    }

    /** Swaps rows and columns. */
    public LabelMap transpose() {
        short[] swapped = new short[labels.length];
        for (int y = 0, i = 0; y < size.height(); y++) {
            for (int x = 0; x < size.width(); x++) {
                swapped[x * size.height() + y] = labels[i++];
            }
        }
        return new LabelMap(new Size(size.width(), size.height()), swapped);
    }

    /**
     * Warps like OpenCV's {@code warpPerspective} with {@code INTER_NEAREST}; pixels outside this
     * map become {@link #IGNORE}.
     *
     * @param map from pixel centers of this map to pixel centers of the result
     */
    public LabelMap warp(Affine map, Size target) {
        Affine back = map.inverse();
        LabelMap warped = filled(target, IGNORE);
        for (int y = 0, i = 0; y < target.height(); y++) {
            double startX = back.x(0, y);
            double startY = back.y(0, y);
            for (int x = 0; x < target.width(); x++, i++) {
                int column = (int) Math.rint(startX + back.xx() * x);
                int row = (int) Math.rint(startY + back.yx() * x);
                if (column >= 0 && column < size.width() && row >= 0 && row < size.height()) {
                    warped.labels[i] = labels[row * size.width() + column];
                }
            }
        }
        return warped;
    }

    /** Copies the labels of a window, row-major, to a part of a larger row-major array. */
    public void copyTo(int top, int left, Size part, short[] target, int offset, int stride) {
        for (int y = 0; y < part.height(); y++) {
            int row = (top + y) * size.width() + left;
            System.arraycopy(labels, row, target, offset + y * stride, part.width());
        }
    }

    /** Pads the bottom and right with {@link #IGNORE}. */
    public LabelMap pad(Size padded) {
        return padded.equals(size) ? this : window(0, 0, padded);
    }

    /** Counts the pixels of each class; an additional last count is for {@link #IGNORE}. */
    public long[] histogram(int classes) {
        long[] counts = new long[classes + 1];
        for (short stored : labels) {
            int label = label(stored);
            checkArgument(label < classes, "got label %s, expected less than %s", label, classes);
            counts[label == IGNORE ? classes : label]++;
        }
        return counts;
    }

    /** Returns this map with {@link #IGNORE} wherever another map of the same size has it. */
    public LabelMap copyIgnored(LabelMap other) {
        checkArgument(
                size.equals(other.size),
                "got label maps of %s and %s, expected equal sizes",
                other.size,
                size);
        short[] masked = labels.clone();
        for (int i = 0; i < masked.length; i++) {
            if (other.labels[i] == (short) IGNORE) {
                masked[i] = (short) IGNORE;
            }
        }
        return new LabelMap(size, masked);
    }

    /**
     * Returns a copy with the labels of {@code other} inside a region. The maps are aligned at
     * their upper left corners and may differ in size.
     */
    public LabelMap paste(Rle region, LabelMap other) {
        checkArgument(
                size.equals(region.size()),
                "got a label map of %s and a mask of %s," + " expected equal sizes",
                size,
                region.size());
        short[] replaced = labels.clone();
        region.forEachColumnRun(
                (x, top, bottom) -> {
                    for (int y = top; y < bottom; y++) {
                        replaced[y * size.width() + x] = other.labels[y * other.size.width() + x];
                    }
                });
        return new LabelMap(size, replaced);
    }

    /** Returns the mask of each class that occurs, by ascending label. */
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
     * Returns the fraction of pixels in the most frequent class, which mmsegmentation limits by
     * {@code cat_max_ratio}. Excludes ignored pixels; 1 if all are ignored.
     */
    public double maxClassRatio() {
        long[] counts = histogram(MAX_CLASSES);
        long counted = labels.length - counts[MAX_CLASSES];
        long most = Arrays.stream(counts, 0, MAX_CLASSES).max().orElse(0);
        return counted == 0 ? 1 : (double) most / counted;
    }

    /** Writes the labels as int64, row-major. */
    public void write(LongBuffer target) {
        for (short stored : labels) {
            target.put(label(stored));
        }
    }

    /** Returns a copy of the labels, row-major and unsigned; {@code 0xFFFF} is {@link #IGNORE}. */
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
