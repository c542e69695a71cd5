package dev.saccade.datasets.image;

import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The segments of a JPEG up to its end marker, without thumbnails inside segments.
 *
 * <p>Parsed here because OpenCV and Commons Imaging disagree about the orientation if a file has
 * several EXIF segments or XMP before EXIF ({@code HeaderParsersTest}, {@code OrientationTest}),
 * and libjpeg decodes any number of scans, each over all pixels ({@code JpegScansTest}).
 */
final class JpegSegments {

    private static final String NO_END = "has no end marker, but all of its blocks are present";

    private static final int MARKER = 0xFF;
    private static final int BASELINE = 0xC0;
    private static final int EXTENDED = 0xC1;
    private static final int HUFFMAN_TABLES = 0xC4;
    private static final int END_OF_IMAGE = 0xD9;
    private static final int START_OF_SCAN = 0xDA;
    private static final int JFIF_SEGMENT = 0xE0;
    private static final int EXIF_SEGMENT = 0xE1;
    private static final ByteBuffer JFIF = ascii("JFIF\0");
    private static final ByteBuffer EXIF = ascii("Exif\0\0");

    /** Encoders write at most 18 scans; 100 scans of a small image are decoded quickly. */
    private static final int MAX_SCANS = 100;

    /** Maximum pixels of all scans together; each scan takes time for all pixels, even if empty. */
    private static final long MAX_SCANNED_PIXELS = 20 * ImageInfo.MAX_PIXELS;

    private static final int MANY_ZEROS = 512;

    private static final int BLOCK = 8;
    private static final int BLOCKS_PER_BYTE = 4;
    private static final int COEFFICIENTS = 64;

    private final ByteBuffer jpeg;
    private Optional<ByteBuffer> frame = Optional.empty();
    private Optional<ByteBuffer> exif = Optional.empty();
    private boolean baseline;

    /** Offset of the end marker; the length of the file without one. */
    private int end;

    private boolean complete;

    /** Offset of an unknown JFIF revision, which libjpeg prints a warning about; 0 if none. */
    private int revision;

    /** Offsets of bytes outside of segments, except the data of scans. */
    private final BitSet spare = new BitSet();

    private int scans;
    private long scanBytes;
    private int zeros;
    private int mostZeros;

    /** Whether zero bytes may be pixels, as in images of one color: code 00 ends a block. */
    private boolean mayBeZero;

    private final boolean[] emptyIfZero = new boolean[16];

    /** By component: the lowest known bit of each coefficient plus 1, 0 if none is known. */
    private final Map<Byte, int[]> precision = new HashMap<>();

    private JpegSegments(byte[] bytes) {
        this.jpeg = ByteBuffer.wrap(bytes);
        this.end = bytes.length;
        walk();
    }

    /** Parses a JPEG; drops zeros after an image without an end marker. */
    static JpegSegments of(byte[] bytes) {
        JpegSegments segments = new JpegSegments(bytes);
        return segments.complete ? segments : new JpegSegments(withoutPadding(bytes));
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    static ImageHeader header(byte[] bytes) {
        JpegSegments segments = of(bytes);
        ByteBuffer frame =
                segments.frame.orElseThrow(
                        () -> new IllegalArgumentException("it does not state its size"));
        String fault = segments.fault();
        if (!segments.complete && (!fault.isEmpty() || !JpegBlocks.read(segments).isComplete())) {
            fault = ImageHeader.TRUNCATED;
        }
        return new ImageHeader(
                ImageHeader.Kind.JPEG,
                segments.size(),
                frame.get(5),
                frame.get(0),
                segments.exif.map(TiffDirectory::orientation).orElse(ImageHeader.UPRIGHT),
                fault,
                segments.complete || !fault.isEmpty() ? List.of() : List.of(NO_END));
    }

    /** Returns the bytes without zeros at the end, except one after a 0xFF. */
    private static byte[] withoutPadding(byte[] bytes) {
        int end = bytes.length;
        while (end > 2 && bytes[end - 1] == 0 && bytes[end - 2] != (byte) MARKER) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    Size size() {
        ByteBuffer header = frame.orElseThrow();
        return new Size(
                Short.toUnsignedInt(header.getShort(1)), Short.toUnsignedInt(header.getShort(3)));
    }

    /** Returns whether the scans define all bits of all coefficients. */
    boolean isFinal() {
        return precision.size() == frame.orElseThrow().get(5)
                && precision.values().stream()
                        .flatMapToInt(Arrays::stream)
                        .allMatch(known -> known == 1);
    }

    /**
     * Returns the image with an end marker, without bytes between header segments, and with a JFIF
     * revision that libjpeg knows; the same array if nothing changes.
     *
     * @param spareAtEnd number of bytes to drop before the end marker
     */
    byte[] clean(int spareAtEnd) {
        if (complete && spareAtEnd == 0 && revision == 0 && spare.isEmpty()) {
            return jpeg.array();
        }
        byte[] bytes = Arrays.copyOf(jpeg.array(), end - spareAtEnd + 2);
        bytes[end - spareAtEnd] = (byte) MARKER;
        bytes[end - spareAtEnd + 1] = (byte) END_OF_IMAGE;
        if (revision > 0) {
            bytes[revision] = 1;
        }
        int length = 0;
        for (int at = 0; at < bytes.length; at++) {
            bytes[length] = bytes[at];
            length += spare.get(at) ? 0 : 1;
        }
        return Arrays.copyOf(bytes, length);
    }

    /** Counts bytes between header segments and right before the end marker, except padding. */
    int spare(int spareAtEnd) {
        spare.set(end - spareAtEnd, end);
        return (int)
                spare.stream()
                        .filter(at -> jpeg.get(at) != 0 && jpeg.get(at) != (byte) MARKER)
                        .count();
    }

    private void walk() {
        int at = 2;
        while (at + 1 < jpeg.limit()) {
            at = skipData(at);
            int code = Byte.toUnsignedInt(jpeg.get(at + 1));
            boolean marker =
                    Byte.toUnsignedInt(jpeg.get(at)) == MARKER && code != 0 && code != MARKER;
            if (!marker || isStandalone(code)) {
                addData(at++);
            } else if (code == END_OF_IMAGE) {
                complete = scans > 0;
                end = at;
                return;
            } else if (at + 3 < jpeg.limit()) {
                int length = Short.toUnsignedInt(jpeg.getShort(at + 2));
                if (length >= 2 && length - 2 <= jpeg.limit() - at - 4) {
                    addSegment(code, at + 4, jpeg.slice(at + 4, length - 2));
                }
                at += 2 + length;
            } else {
                return;
            }
        }
    }

    /** Counts bytes of a scan that are neither zero nor part of a marker, except the last byte. */
    private int skipData(int start) {
        int at = start;
        if (scans > 0) {
            byte[] bytes = jpeg.array();
            while (at + 2 < bytes.length && bytes[at] != 0 && bytes[at] != (byte) MARKER) {
                at++;
            }
            scanBytes += at - start;
            zeros = at > start ? 0 : zeros;
        }
        return at;
    }

    /** Returns whether a marker has no length: restart markers, TEM and the start of the image. */
    private static boolean isStandalone(int code) {
        return code == 0x01 || (code >= 0xD0 && code <= 0xD8);
    }

    private void addSegment(int code, int at, ByteBuffer content) {
        if (code == START_OF_SCAN) {
            addScan(content);
        } else if (code == HUFFMAN_TABLES) {
            addTables(content);
        } else if (scans > 0) {
            return;
        } else if (isFrame(code) && frame.isEmpty()) {
            frame = Optional.of(content);
            baseline = code == BASELINE || code == EXTENDED;
        } else if (code == JFIF_SEGMENT && startsWith(content, JFIF)) {
            revision = content.limit() > 5 && content.get(5) != 1 ? at + 5 : 0;
        } else if (code == EXIF_SEGMENT && startsWith(content, EXIF)) {
            exif = exif.or(() -> Optional.of(content.position(EXIF.limit()).slice()));
        }
    }

    private static boolean startsWith(ByteBuffer content, ByteBuffer prefix) {
        return content.mismatch(prefix) == prefix.limit();
    }

    /** Returns whether a marker starts a frame; the excluded codes are tables and reserved. */
    private static boolean isFrame(int code) {
        return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
    }

    /** Reads Huffman tables: class and id, 16 counts of codes, and their symbols. */
    private void addTables(ByteBuffer tables) {
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

    private void addScan(ByteBuffer header) {
        scans++;
        zeros = 0;
        mayBeZero = true;
        int count = header.get(0);
        if (count < 0 || header.limit() < 4 + 2 * count) {
            return;
        }
        int last = Math.min(header.get(2 + 2 * count), COEFFICIENTS - 1);
        for (int i = 0; i < count; i++) {
            mayBeZero &= emptyIfZero[header.get(2 + 2 * i) & 15];
            int[] known =
                    precision.computeIfAbsent(header.get(1 + 2 * i), id -> new int[COEFFICIENTS]);
            for (int k = Math.max(0, header.get(1 + 2 * count)); k <= last; k++) {
                known[k] = 1 + (header.get(3 + 2 * count) & 15);
            }
        }
    }

    /** Adds a byte outside of segments: to the scan data after a scan header, else to spare. */
    private void addData(int at) {
        if (scans > 0) {
            scanBytes++;
            zeros = jpeg.get(at) == 0 && !mayBeZero ? zeros + 1 : 0;
            mostZeros = Math.max(mostZeros, zeros);
        } else {
            spare.set(at);
        }
    }

    /** Returns why the scans are invalid, or would take too long to decode; empty if valid. */
    private String fault() {
        long most = Math.min(MAX_SCANS, MAX_SCANNED_PIXELS / Math.max(1, size().area()));
        if (scans > most) {
            return Text.format(
                    "has %d scans, expected at most %d for its size; save it again", scans, most);
        }
        // Each block of a baseline JPEG has at least two bits.
        long blocks = size().roundUpTo(BLOCK).area() / (BLOCK * BLOCK);
        long least = (blocks + BLOCKS_PER_BYTE - 1) / BLOCKS_PER_BYTE;
        if (baseline && scanBytes < least) {
            return Text.format(
                    "is damaged: its pixels have %d bytes, expected at least %d; copy or download"
                            + " it again",
                    scanBytes, least);
        }
        return baseline && mostZeros >= MANY_ZEROS
                ? Text.format(
                        "is damaged: %d bytes of its pixels are zero; copy or download it again",
                        mostZeros)
                : ImageHeader.SOUND;
    }
}
