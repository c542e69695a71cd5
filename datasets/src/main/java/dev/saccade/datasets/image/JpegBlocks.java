package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.structures.ImageInfo;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/**
 * Whether all blocks of a JPEG can be decoded. libjpeg fills in missing blocks, skips damaged ones
 * and prints to standard error.
 */
final class JpegBlocks {

    private static final int MARKER = 0xFF;
    private static final int BASELINE = 0xC0;
    private static final int EXTENDED = 0xC1;
    private static final int PROGRESSIVE = 0xC2;
    private static final int HUFFMAN_TABLES = 0xC4;
    private static final int RESTART = 0xD0;
    private static final int START_OF_IMAGE = 0xD8;
    private static final int END_OF_IMAGE = 0xD9;
    private static final int START_OF_SCAN = 0xDA;
    private static final int JFIF_SEGMENT = 0xE0;
    private static final ByteBuffer JFIF = ByteBuffer.wrap("JFIF\0".getBytes(US_ASCII));

    private static final int RESTART_INTERVAL = 0xDD;

    private static final int COEFFICIENTS = 64;
    private static final int UNKNOWN = -1;
    private static final int LONGEST_CODE = 16;

    private static final String MISSING =
            "is truncated, its last blocks are missing; copy or download it again";
    private static final String DAMAGED =
            "is damaged, some of its blocks cannot be decoded; copy or download it again";

    private final byte[] jpeg;
    private final ByteBuffer buffer;
    private final HuffmanCodes[] dc = new HuffmanCodes[4];
    private final HuffmanCodes[] ac = new HuffmanCodes[4];
    private JpegFrame frame;
    private boolean progressive;
    private long[][] nonzero;
    private int[][] precision;
    private int restartInterval;

    /** Image up to {@link #copied}, filled only if bytes are left out. */
    private final ByteArrayOutputStream clean = new ByteArrayOutputStream(0);

    private int copied;
    private int end;
    private int spare;

    /** Offset of an unknown JFIF revision, which libjpeg prints a warning about; 0 if none. */
    private int revision;

    private boolean hasEnd;
    private String fault = ImageHeader.SOUND;

    private JpegBlocks(byte[] jpeg) {
        this.jpeg = jpeg;
        buffer = ByteBuffer.wrap(jpeg);
    }

    /**
     * Reads all scans. Empty if their blocks cannot be judged: arithmetic codes, 12 bits, tables
     * that the file omits, headers that are wrong, or too many pixels.
     */
    static Optional<JpegBlocks> read(byte[] jpeg) {
        JpegBlocks blocks = new JpegBlocks(jpeg);
        try {
            blocks.walk();
        } catch (JpegBits.EndOfData e) {
            blocks.fault = MISSING;
        } catch (JpegScan.BadCode e) {
            blocks.fault = DAMAGED;
        } catch (RuntimeException e) {
            return Optional.empty();
        }
        return Optional.of(blocks);
    }

    /** Returns what is wrong with the blocks; empty if all were decoded. */
    String fault() {
        return fault;
    }

    /** Returns the number of bytes, other than padding, that belong to no block and no segment. */
    int spare() {
        return spare;
    }

    /** Returns whether the scans define all bits of all coefficients. */
    boolean isFinal() {
        return Arrays.stream(precision).flatMapToInt(Arrays::stream).allMatch(low -> low == 0);
    }

    /** Returns the image without spare bytes and with an end marker; the same array if possible. */
    byte[] clean() {
        if (hasEnd && copied == 0 && revision == 0) {
            return jpeg;
        }
        clean.write(jpeg, copied, Math.max(0, end - copied));
        clean.write(MARKER);
        clean.write(END_OF_IMAGE);
        byte[] bytes = clean.toByteArray();
        if (revision > 0) {
            bytes[revision] = 1;
        }
        return bytes;
    }

    private void walk() {
        int at = marker(2);
        while (at < jpeg.length && !hasEnd) {
            int code = Byte.toUnsignedInt(jpeg[at + 1]);
            hasEnd = code == END_OF_IMAGE;
            if (!hasEnd) {
                boolean standalone = code == 1 || (code >= RESTART && code <= START_OF_IMAGE);
                at = marker(standalone ? at + 2 : segment(code, at + 2));
            }
        }
        checkArgument(precision != null, "no frame");
    }

    /** Reads a segment and the data behind it; returns their end. */
    private int segment(int code, int at) {
        int length = Short.toUnsignedInt(buffer.getShort(at));
        ByteBuffer content = buffer.slice(at + 2, length - 2);
        switch (code) {
            case HUFFMAN_TABLES -> setTables(content);
            case RESTART_INTERVAL -> restartInterval = Short.toUnsignedInt(content.getShort());
            case START_OF_SCAN -> {
                return scan(new JpegScan(content, this), at + length);
            }
            case BASELINE, EXTENDED, PROGRESSIVE -> setFrame(code, content);
            case JFIF_SEGMENT -> {
                boolean isJfif = content.mismatch(JFIF) == JFIF.limit();
                revision = isJfif && content.get(5) != 1 && copied == 0 ? at + 7 : revision;
            }
            default -> checkArgument(!JpegSegments.isFrame(code), "not Huffman codes");
        }
        return at + length;
    }

    private void setFrame(int code, ByteBuffer content) {
        checkArgument(
                frame == null
                        && content.get(0) == Byte.SIZE
                        && JpegSegments.size(content).area() <= ImageInfo.MOST_PIXELS,
                "several frames, 12 bits or too many pixels");
        frame = JpegFrame.read(content);
        progressive = code == PROGRESSIVE;
        int count = frame.components().size();
        nonzero = new long[count][];
        precision = new int[count][COEFFICIENTS];
        for (int i = 0; i < count; i++) {
            Arrays.fill(precision[i], UNKNOWN);
            nonzero[i] = new long[progressive ? frame.paddedBlocks(i) : 0];
        }
    }

    private void setTables(ByteBuffer tables) {
        while (tables.remaining() > LONGEST_CODE) {
            int id = tables.get();
            ByteBuffer counts = tables.slice(tables.position(), LONGEST_CODE);
            int codes = 0;
            for (int i = 0; i < LONGEST_CODE; i++) {
                codes += Byte.toUnsignedInt(tables.get());
            }
            byte[] symbols = new byte[codes];
            tables.get(symbols);
            (id >> 4 == 0 ? dc : ac)[id & 15] = new HuffmanCodes(counts, symbols);
        }
    }

    /** Decodes a scan; returns the end of its data. */
    private int scan(JpegScan scan, int at) {
        scan.refine(precision);
        JpegBits bits = new JpegBits(jpeg, at);
        long mcus = scan.mcus(frame);
        for (long mcu = 0; mcu < mcus; mcu++) {
            if (restartInterval > 0 && mcu > 0 && mcu % restartInterval == 0) {
                int marker = marker(bits.position());
                long number = (mcu / restartInterval - 1) % 8;
                if (marker >= jpeg.length || jpeg[marker + 1] != (byte) (RESTART + number)) {
                    throw new JpegScan.BadCode();
                }
                bits.moveTo(marker + 2);
                scan.restart();
            }
            scan.decode(bits, mcu, frame);
        }
        return bits.position();
    }

    /**
     * Returns the offset of the next marker, or the end of the file; leaves out bytes before it.
     */
    private int marker(int from) {
        int at = from;
        while (at < jpeg.length && !isMarker(at)) {
            spare += jpeg[at] == 0 || jpeg[at] == (byte) MARKER ? 0 : 1;
            at++;
        }
        end = from;
        if (at > from) {
            clean.write(jpeg, copied, from - copied);
            copied = at;
        }
        return at;
    }

    private boolean isMarker(int at) {
        return at + 1 < jpeg.length
                && jpeg[at] == (byte) MARKER
                && jpeg[at + 1] != 0
                && jpeg[at + 1] != (byte) MARKER;
    }

    JpegFrame frame() {
        return frame;
    }

    boolean isProgressive() {
        return progressive;
    }

    long[] nonzero(int component) {
        return nonzero[component];
    }

    int indexOf(int component) {
        for (int i = 0; i < frame.components().size(); i++) {
            if (frame.components().get(i).id() == component) {
                return i;
            }
        }
        throw new IllegalArgumentException("unknown component");
    }

    HuffmanCodes dc(int table, boolean isNeeded) {
        checkArgument(!isNeeded || dc[table] != null, "no table");
        return dc[table];
    }

    HuffmanCodes ac(int table, boolean isNeeded) {
        checkArgument(!isNeeded || ac[table] != null, "no table");
        return ac[table];
    }
}
