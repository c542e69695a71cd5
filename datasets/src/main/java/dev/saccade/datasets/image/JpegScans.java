package dev.saccade.datasets.image;

import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;

/** The scans of a JPEG, whose data become its pixels. */
final class JpegScans {

    /** Ways of saving know 18 at most; this many of a small image are decoded in no time. */
    private static final int MOST = 100;

    /** Each scan of a progressive JPEG goes over all pixels, even if it has no data. */
    private static final long MOST_PIXELS = 20 * ImageInfo.MOST_PIXELS;

    /** A sector of a disk, the least that is lost. */
    private static final int MANY_ZEROS = 512;

    private static final int BLOCK = 8;
    private static final int BLOCKS_A_BYTE = 4;

    /** Whether zero bits end a block at once, as a table may say of images of one color. */
    private final boolean[] emptyIfZero = new boolean[16];

    private int count;
    private long bytes;
    private boolean mayBeZero;
    private int zeros;
    private int mostZeros;

    /** Sees Huffman tables: each a class and a number, 16 counts of codes, and their symbols. */
    void setTables(ByteBuffer tables) {
        while (tables.remaining() > 16) {
            int id = tables.get();
            int symbols = 0;
            for (int i = 0; i < 16; i++) {
                symbols += Byte.toUnsignedInt(tables.get());
            }
            if (symbols == 0 || symbols > tables.remaining()) {
                return;
            }
            if (id >> 4 == 1) {
                emptyIfZero[id & 15] = tables.get(tables.position()) == 0;
            }
            tables.position(tables.position() + symbols);
        }
    }

    /** Sees the header of a scan. */
    void start(ByteBuffer header) {
        count++;
        zeros = 0;
        mayBeZero = true;
        for (int i = 0; i < header.get(0); i++) {
            mayBeZero &= emptyIfZero[header.get(2 + 2 * i) & 15];
        }
    }

    /** Sees a byte between segments; those behind the header of a scan are its data. */
    void see(byte data) {
        if (!any()) {
            return;
        }
        bytes++;
        zeros = data == 0 && !mayBeZero ? zeros + 1 : 0;
        mostZeros = Math.max(mostZeros, zeros);
    }

    boolean any() {
        return count > 0;
    }

    /**
     * Returns why the scans make no image, or none in reasonable time; empty if they may make one.
     *
     * @param frame content of the segment that tells the size
     * @param baseline whether Huffman codes of whole blocks follow each other, so that a block has
     *     at least two bits, and long runs of zero bits are no pixels
     */
    String fault(ByteBuffer frame, boolean baseline) {
        Size size = JpegSegments.size(frame);
        long most = Math.min(MOST, MOST_PIXELS / Math.max(1, size.area()));
        if (count > most) {
            return Text.format(
                    "has %d scans, expected at most %d for its size; save it again", count, most);
        }
        if (!baseline) {
            return ImageHeader.SOUND;
        }
        long least = ceilDiv(blocks(frame, size), BLOCKS_A_BYTE);
        if (bytes < least) {
            return Text.format(
                    "is damaged, its pixels have %d bytes, expected at least %d; copy or download it again",
                    bytes, least);
        }
        if (mostZeros >= MANY_ZEROS) {
            return Text.format(
                    "is damaged, %d bytes of its pixels are zero; copy or download it again",
                    mostZeros);
        }
        return ImageHeader.SOUND;
    }

    private static long blocks(ByteBuffer frame, Size size) {
        int mostAcross = 1;
        int mostDown = 1;
        for (int i = 0; i < frame.get(5); i++) {
            mostAcross = Math.max(mostAcross, across(frame, i));
            mostDown = Math.max(mostDown, down(frame, i));
        }
        long blocks = 0;
        for (int i = 0; i < frame.get(5); i++) {
            blocks +=
                    blocks(size.width(), across(frame, i), mostAcross)
                            * blocks(size.height(), down(frame, i), mostDown);
        }
        return blocks;
    }

    private static long blocks(int side, int sampling, int mostSampling) {
        return ceilDiv(ceilDiv((long) side * sampling, mostSampling), BLOCK);
    }

    private static long ceilDiv(long total, int part) {
        return (total + part - 1) / part;
    }

    private static int across(ByteBuffer frame, int component) {
        return frame.get(7 + 3 * component) >> 4 & 15;
    }

    private static int down(ByteBuffer frame, int component) {
        return frame.get(7 + 3 * component) & 15;
    }
}
