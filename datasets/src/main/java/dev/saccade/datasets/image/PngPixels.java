package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.Inflater;

/**
 * The pixels of a PNG as they are compressed. A decoder goes on to the end of what is compressed,
 * which may be a thousand times the file, when it has long had all pixels.
 */
final class PngPixels {

    /** Where the seven passes of an interlaced image begin, and their steps: x, y, across, down. */
    private static final int[][] ADAM7 = {
        {0, 0, 8, 8},
        {4, 0, 8, 8},
        {0, 4, 4, 8},
        {2, 0, 4, 4},
        {0, 2, 2, 4},
        {1, 0, 2, 2},
        {0, 1, 1, 2}
    };

    private static final int[][] NOT_INTERLACED = {{0, 0, 1, 1}};

    /** Some encoders write a little more than there is. */
    static final int MOST_SPARE = 1 << 16;

    private static final int MOST_FILTER = 4;

    private final ImageHeader header;
    private final int[][] passes;
    private final Inflater inflater = new Inflater();
    private int pass = -1;
    private long rowsLeft;
    private long bytesLeft;

    private PngPixels(byte[] bytes, ImageHeader header) {
        this.header = header;
        passes = PngChunks.isInterlaced(bytes) ? ADAM7 : NOT_INTERLACED;
    }

    /**
     * Returns the number of bytes that are compressed behind the pixels, counted up to a little
     * more than {@link #MOST_SPARE}.
     *
     * @throws IllegalArgumentException if pixels are missing or damaged
     */
    static long check(byte[] bytes, ImageHeader header) {
        PngPixels pixels = new PngPixels(bytes, header);
        try {
            long length = pixels.length();
            boolean exceeds = pixels.inflate(bytes, length + MOST_SPARE + 1, pixels::checkFilters);
            long written = pixels.inflater.getBytesWritten();
            checkArgument(written >= length, "not all of its pixels are there");
            checkArgument(
                    exceeds || pixels.inflater.finished(), "the checksum of its pixels is missing");
            return written - length;
        } catch (DataFormatException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } finally {
            pixels.inflater.end();
        }
    }

    /** Returns the image without what is compressed behind its pixels. */
    static byte[] withoutSpare(byte[] bytes, ImageHeader header) {
        PngPixels pixels = new PngPixels(bytes, header);
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        Deflater fast = new Deflater(Deflater.BEST_SPEED);
        try (DeflaterOutputStream out = new DeflaterOutputStream(compressed, fast)) {
            long length = pixels.length();
            long[] left = {length};
            pixels.inflate(
                    bytes,
                    length,
                    (inflated, count) -> {
                        out.write(inflated, 0, (int) Math.min(count, left[0]));
                        left[0] -= Math.min(count, left[0]);
                    });
        } catch (IOException | DataFormatException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } finally {
            pixels.inflater.end();
            fast.end();
        }
        return PngChunks.withPixels(bytes, compressed.toByteArray());
    }

    /** Receives inflated bytes. */
    private interface Inflated {
        void accept(byte[] bytes, int count) throws IOException, DataFormatException;
    }

    /** Inflates until a length is reached; returns whether it is. */
    private boolean inflate(byte[] bytes, long most, Inflated inflated) throws DataFormatException {
        byte[] buffer = new byte[1 << 16];
        PngChunks chunks = new PngChunks(bytes);
        while (chunks.next() && !inflater.finished() && inflater.getBytesWritten() < most) {
            if (chunks.isPixels()) {
                inflater.setInput(chunks.content());
                int count = inflater.inflate(buffer);
                while (count > 0) {
                    try {
                        inflated.accept(buffer, count);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    count = inflater.getBytesWritten() < most ? inflater.inflate(buffer) : 0;
                }
            }
        }
        return inflater.getBytesWritten() >= most;
    }

    /** Checks the byte before each row. */
    private void checkFilters(byte[] inflated, int count) throws DataFormatException {
        int at = 0;
        while (at < count) {
            if (bytesLeft == 0) {
                if (!nextRow()) {
                    return;
                }
                if (Byte.toUnsignedInt(inflated[at]) > MOST_FILTER) {
                    throw new DataFormatException("unknown filter of a row");
                }
            }
            int skipped = (int) Math.min(bytesLeft, count - at);
            bytesLeft -= skipped;
            at += skipped;
        }
    }

    private boolean nextRow() {
        while (rowsLeft == 0) {
            pass++;
            if (pass == passes.length) {
                pass--;
                return false;
            }
            rowsLeft = rowLength(passes[pass]) > 0 ? rows(passes[pass]) : 0;
        }
        rowsLeft--;
        bytesLeft = rowLength(passes[pass]);
        return true;
    }

    /** Returns how many bytes the pixels have, with the one before each row. */
    private long length() {
        long length = 0;
        for (int[] each : passes) {
            length += rows(each) * rowLength(each);
        }
        return length;
    }

    private long rows(int[] part) {
        return steps(header.stored().height() - part[1], part[3]);
    }

    /** Returns the bytes of a row with the one before it; 0 if the pass has no columns. */
    private long rowLength(int[] part) {
        long across = steps(header.stored().width() - part[0], part[2]);
        long bits = across * header.channels() * header.bits();
        return across == 0 ? 0 : 1 + (bits + 7) / Byte.SIZE;
    }

    private static long steps(int side, int step) {
        return Math.max(0, (side + step - 1) / step);
    }
}
