package dev.saccade.core.structures;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;

import java.util.Arrays;

/** Builds a mask from runs and checks that they cover all pixels. */
public final class RunBuilder {

    /** The longest image side that OpenCV decodes; limits time and memory per mask. */
    private static final int MAX_SIDE = 1 << 20;

    private final Size size;
    private final int pixels;
    private int[] counts = new int[16];
    private int last;
    private long total;

    public RunBuilder(Size size) {
        this.size = size;
        this.pixels = pixels(size);
    }

    /** Returns the number of pixels; throws a user error if a mask cannot have this size. */
    static int pixels(Size size) {
        boolean sides = isSide(size.height()) && isSide(size.width());
        if (!sides || size.area() > Integer.MAX_VALUE) {
            throw SaccadeException.user(
                    "mask: got size %s, expected sides of at most %d and at most %d pixels",
                    size, MAX_SIDE, Integer.MAX_VALUE);
        }
        return (int) size.area();
    }

    private static boolean isSide(int pixels) {
        return pixels >= 0 && pixels <= MAX_SIDE;
    }

    /** Adds a run after checking its length; runs with odd indices are foreground. */
    void addChecked(long length, int index) {
        if (length < 0 || total + length > pixels) {
            throw SaccadeException.user(
                    "RLE: run %d has length %d, expected 0 to %d, the remaining pixels of a mask"
                            + " of %s",
                    index, length, pixels - total, size);
        }
        add((int) length, index % 2 == 1);
    }

    /** Adds a run, which must fit; merges it with a preceding run of the same value. */
    void add(int length, boolean foreground) {
        if (length == 0) {
            return;
        }
        if (foreground != (last % 2 == 1)) {
            last++;
            if (last == counts.length) {
                counts = Arrays.copyOf(counts, 2 * last);
            }
        }
        counts[last] += length;
        total += length;
    }

    /** Adds a run that ends before a column-major position. */
    public void fill(int position, boolean foreground) {
        add(Math.toIntExact(position - total), foreground);
    }

    /** Returns the mask, which the runs must cover. */
    public Rle build() {
        if (total != pixels) {
            throw SaccadeException.user(
                    "RLE: the runs cover %s, but a mask of %s has %d",
                    Count.of(total, "pixel"), size, pixels);
        }
        return new Rle(size, Arrays.copyOf(counts, last + 1));
    }
}
