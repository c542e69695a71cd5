package dev.saccade.core.structures;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;

import java.util.Arrays;

/** Joins runs of one kind to a mask and checks that they cover it. */
public final class RunBuilder {

    /** The longest side of an image that OpenCV decodes; bounds what is spent a column or row. */
    private static final int LONGEST_SIDE = 1 << 20;

    private final Size size;
    private final int pixels;
    private int[] counts = new int[16];
    private int last;
    private long total;

    /** Starts a mask without runs. */
    public RunBuilder(Size size) {
        this.size = size;
        this.pixels = pixels(size);
    }

    /** Returns the number of pixels of a mask, which must be an int. */
    static int pixels(Size size) {
        boolean sides = isSide(size.height()) && isSide(size.width());
        if (!sides || size.area() > Integer.MAX_VALUE) {
            throw SaccadeException.user(
                    "mask: got size %s, expected sides of at most %d and at most %d pixels",
                    size, LONGEST_SIDE, Integer.MAX_VALUE);
        }
        return (int) size.area();
    }

    private static boolean isSide(int pixels) {
        return pixels >= 0 && pixels <= LONGEST_SIDE;
    }

    /** Adds a run of a file, whose kind follows from its index. */
    void addChecked(long length, int index) {
        if (length < 0 || total + length > pixels) {
            throw SaccadeException.user(
                    "RLE: run %d has length %d, expected 0 to %d, the remaining pixels of a mask"
                            + " of %s",
                    index, length, pixels - total, size);
        }
        add((int) length, index % 2 == 1);
    }

    /** Adds a run that fits; one of length 0 changes nothing. */
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

    /** Adds a run up to a position, counted down the columns. */
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
