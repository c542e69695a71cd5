package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Checks the compressed pixels of a PNG. Even if they have all pixels, decoders decompress the rest
 * of the data, which may be a thousand times as large as the file.
 */
final class PngPixels {

    /** Start and step of the seven passes of an interlaced image: x, y, step x, step y. */
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

    /** Tolerated decompressed bytes after the pixels, as some encoders write a few too many. */
    static final int MAX_SPARE = 1 << 16;

    private PngPixels() {}

    /**
     * Returns the number of decompressed bytes after the pixels; stops counting soon after {@link
     * #MAX_SPARE}. Throws if pixels are missing or damaged.
     */
    static long check(byte[] bytes, ImageHeader header) {
        long length = length(bytes, header);
        long most = length + MAX_SPARE + 1;
        byte[] buffer = new byte[1 << 16];
        Inflater inflater = new Inflater();
        try {
            PngChunks chunks = new PngChunks(bytes);
            while (chunks.next() && !inflater.finished() && inflater.getBytesWritten() < most) {
                if (chunks.isPixels()) {
                    inflater.setInput(chunks.content());
                    int count;
                    do {
                        count = inflater.inflate(buffer);
                    } while (count > 0 && inflater.getBytesWritten() < most);
                }
            }
            long written = inflater.getBytesWritten();
            checkArgument(written >= length, "some of its pixels are missing");
            checkArgument(
                    written >= most || inflater.finished(),
                    "the checksum of its pixels is missing");
            return written - length;
        } catch (DataFormatException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } finally {
            inflater.end();
        }
    }

    private static long length(byte[] bytes, ImageHeader header) {
        long length = 0;
        for (int[] pass : PngChunks.isInterlaced(bytes) ? ADAM7 : NOT_INTERLACED) {
            long columns = steps(header.storedSize().width() - pass[0], pass[2]);
            long rows = steps(header.storedSize().height() - pass[1], pass[3]);
            long bits = columns * header.channels() * header.bits();
            length += columns == 0 ? 0 : rows * (1 + (bits + 7) / Byte.SIZE);
        }
        return length;
    }

    private static long steps(int side, int step) {
        return Math.max(0, (side + step - 1) / step);
    }
}
