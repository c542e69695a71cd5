package dev.saccade.datasets.image;

import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
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
    private static final int MOST_SPARE = 1 << 16;

    private PngPixels() {}

    /** Returns whether more is compressed than the pixels of which the header tells. */
    static boolean exceed(byte[] bytes, ImageHeader header) {
        long most = length(header, PngChunks.isInterlaced(bytes)) + MOST_SPARE;
        Inflater inflater = new Inflater();
        try {
            byte[] thrownAway = new byte[1 << 16];
            PngChunks chunks = new PngChunks(bytes);
            while (chunks.next() && !inflater.finished() && inflater.getBytesWritten() <= most) {
                if (chunks.isPixels()) {
                    inflate(inflater, chunks.content(), thrownAway, most);
                }
            }
            return inflater.getBytesWritten() > most;
        } catch (DataFormatException e) {
            // A decoder stops here, too.
            return false;
        } finally {
            inflater.end();
        }
    }

    private static void inflate(
            Inflater inflater, ByteBuffer compressed, byte[] thrownAway, long most)
            throws DataFormatException {
        inflater.setInput(compressed);
        while (inflater.getBytesWritten() <= most && inflater.inflate(thrownAway) > 0) {
            // Only the length is of interest.
        }
    }

    /** Returns how many bytes the pixels have, with the one before each row. */
    private static long length(ImageHeader header, boolean interlaced) {
        long length = 0;
        for (int[] pass : interlaced ? ADAM7 : NOT_INTERLACED) {
            long across = steps(header.stored().width() - pass[0], pass[2]);
            long down = steps(header.stored().height() - pass[1], pass[3]);
            long row = (across * header.channels() * header.bits() + 7) / Byte.SIZE;
            length += across > 0 ? down * (1 + row) : 0;
        }
        return length;
    }

    private static long steps(int side, int step) {
        return Math.max(0, (side + step - 1) / step);
    }
}
