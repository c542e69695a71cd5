package dev.saccade.datasets.labels;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Masks of Label Studio's brush: run lengths of RGBA bytes, row by row, in the bit format of
 * {@code @thi.ng/rle-pack}. A pixel is foreground if its alpha is at least 128.
 */
public final class BrushRle {

    private static final int CHANNELS = 4;
    private static final int OPAQUE = 0xFF;
    private static final int FOREGROUND = 0x80;
    private static final int WORD_BITS = 8;

    /** Bits of a run length; each run states which it uses. */
    private static final int[] LENGTH_BITS = {3, 4, 8, 16};

    private BrushRle() {}

    /** Encodes a mask as bytes; Label Studio stores each as a number from 0 to 255. */
    public static byte[] encode(Rle mask) {
        BitWriter bits = new BitWriter();
        bits.write(Math.toIntExact(CHANNELS * mask.size().area()), 32);
        bits.write(WORD_BITS - 1, 5);
        for (int length : LENGTH_BITS) {
            bits.write(length - 1, 4);
        }
        // The column-wise runs of the transposed mask are the row-wise runs of the mask.
        int value = 0;
        for (int run : mask.transpose().counts()) {
            bits.writeRun((long) run * CHANNELS, value);
            value = OPAQUE - value;
        }
        return bits.bytes();
    }

    /** Decodes a mask; throws unless the data is valid and of the size of the image. */
    public static Rle decode(byte[] rle, Size image) {
        BitReader bits = new BitReader(rle);
        long values = bits.read(32);
        if (values != CHANNELS * image.area()) {
            throw SaccadeException.user(
                    "rle: got a mask of %d values, expected %d for an image of %s",
                    values, CHANNELS * image.area(), image);
        }
        int wordBits = (int) bits.read(5) + 1;
        int[] lengthBits = new int[LENGTH_BITS.length];
        for (int i = 0; i < lengthBits.length; i++) {
            lengthBits[i] = (int) bits.read(4) + 1;
        }
        RowRuns pixels = new RowRuns();
        long at = 0;
        while (at < values) {
            boolean repeats = bits.read(1) == 1;
            long end = at + 1 + bits.read(lengthBits[(int) bits.read(2)]);
            if (end > values) {
                throw SaccadeException.user("rle: got more than %d values", values);
            }
            if (repeats) {
                pixels.add(end / CHANNELS - at / CHANNELS, bits.read(wordBits));
                at = end;
            } else {
                for (; at < end; at++) {
                    pixels.add((at + 1) / CHANNELS - at / CHANNELS, bits.read(wordBits));
                }
            }
        }
        Size transposed = new Size(/* height= */ image.width(), /* width= */ image.height());
        return Rle.fromCounts(transposed, pixels.counts()).transpose();
    }

    /** Collects row-wise run lengths, background first. */
    private static final class RowRuns {

        private final List<Integer> counts = new ArrayList<>();
        private boolean foreground;
        private int length;

        void add(long pixels, long alpha) {
            if (pixels > 0 && (alpha >= FOREGROUND) != foreground) {
                counts.add(length);
                foreground = !foreground;
                length = 0;
            }
            length += (int) pixels;
        }

        int[] counts() {
            counts.add(length);
            return counts.stream().mapToInt(count -> count).toArray();
        }
    }

    private static final class BitWriter {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int pending;
        private int count;

        void write(int value, int bits) {
            for (int bit = bits - 1; bit >= 0; bit--) {
                pending = (pending << 1) | ((value >>> bit) & 1);
                if (++count == Byte.SIZE) {
                    bytes.write(pending);
                    pending = 0;
                    count = 0;
                }
            }
        }

        void writeRun(long values, int value) {
            for (long left = values; left > 0; ) {
                int kind = 0;
                while (kind < LENGTH_BITS.length - 1 && left > 1 << LENGTH_BITS[kind]) {
                    kind++;
                }
                int length = (int) Math.min(left, 1 << LENGTH_BITS[kind]);
                write(1, 1);
                write(kind, 2);
                write(length - 1, LENGTH_BITS[kind]);
                write(value, WORD_BITS);
                left -= length;
            }
        }

        byte[] bytes() {
            if (count > 0) {
                write(0, Byte.SIZE - count);
            }
            return bytes.toByteArray();
        }
    }

    private static final class BitReader {

        private final byte[] bytes;
        private long at;

        BitReader(byte[] bytes) {
            this.bytes = bytes;
        }

        long read(int bits) {
            if (at + bits > (long) bytes.length * Byte.SIZE) {
                throw SaccadeException.user("rle: ends before the mask is complete");
            }
            long value = 0;
            for (int i = 0; i < bits; i++, at++) {
                int shift = 7 - (int) (at % Byte.SIZE);
                value = (value << 1) | ((bytes[(int) (at / Byte.SIZE)] >> shift) & 1);
            }
            return value;
        }
    }
}
