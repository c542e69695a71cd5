package dev.saccade.datasets.image;

import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The segments of a JPEG, one after the other to its end, so that neither the header nor the end of
 * an embedded thumbnail counts.
 */
final class JpegSegments {

    private static final String NO_END =
            "has no end marker; all of its blocks are there and are read";

    private static final int MARKER = 0xFF;
    private static final int BASELINE = 0xC0;
    private static final int EXTENDED = 0xC1;
    private static final int HUFFMAN_TABLES = 0xC4;
    private static final int START_OF_SCAN = 0xDA;
    private static final int END_OF_IMAGE = 0xD9;
    private static final int EXIF_SEGMENT = 0xE1;
    private static final ByteBuffer EXIF =
            ByteBuffer.wrap("Exif\0\0".getBytes(StandardCharsets.US_ASCII));

    private final ByteBuffer jpeg;
    private Optional<ByteBuffer> frame = Optional.empty();
    private Optional<ByteBuffer> exif = Optional.empty();
    private final JpegScans scans = new JpegScans();
    private boolean baseline;

    private JpegSegments(byte[] bytes) {
        this.jpeg = ByteBuffer.wrap(bytes);
    }

    /** Returns what a JPEG says about itself; EXIF data are the first before the pixels. */
    static ImageHeader header(byte[] bytes) {
        JpegSegments segments = new JpegSegments(bytes);
        boolean complete = segments.walk();
        if (!complete) {
            segments = new JpegSegments(withoutPadding(bytes));
            complete = segments.walk();
        }
        ByteBuffer frame =
                segments.frame.orElseThrow(
                        () -> new IllegalArgumentException("it does not tell its size"));
        String fault = segments.scans.fault(frame, segments.baseline);
        if (!complete && (!fault.isEmpty() || !isComplete(segments.jpeg.array()))) {
            fault = ImageHeader.TRUNCATED;
        }
        return new ImageHeader(
                ImageHeader.Kind.JPEG,
                size(frame),
                frame.get(5),
                frame.get(0),
                segments.exif.map(TiffDirectory::orientation).orElse(ImageHeader.UPRIGHT),
                fault,
                complete || !fault.isEmpty() ? List.of() : List.of(NO_END));
    }

    /** Returns the bytes without zeros at the end, except one that belongs to a 0xFF. */
    private static byte[] withoutPadding(byte[] bytes) {
        int end = bytes.length;
        while (end > 2 && bytes[end - 1] == 0 && bytes[end - 2] != (byte) MARKER) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    /** Returns whether all blocks are there. */
    private static boolean isComplete(byte[] bytes) {
        return JpegBlocks.read(bytes)
                .filter(blocks -> blocks.fault().isEmpty() && blocks.isFinal())
                .isPresent();
    }

    /** Returns the size that a frame tells. */
    static Size size(ByteBuffer frame) {
        return new Size(
                Short.toUnsignedInt(frame.getShort(1)), Short.toUnsignedInt(frame.getShort(3)));
    }

    /** Returns whether the end is there. */
    private boolean walk() {
        int at = 2;
        while (at + 1 < jpeg.limit()) {
            int code = Byte.toUnsignedInt(jpeg.get(at + 1));
            boolean marker =
                    Byte.toUnsignedInt(jpeg.get(at)) == MARKER && code != 0 && code != MARKER;
            if (!marker || isStandalone(code)) {
                scans.see(jpeg.get(at));
                at++;
            } else if (code == END_OF_IMAGE) {
                return scans.any();
            } else if (at + 3 < jpeg.limit()) {
                int length = Short.toUnsignedInt(jpeg.getShort(at + 2));
                see(code, at + 4, length - 2);
                at += 2 + length;
            } else {
                return false;
            }
        }
        return false;
    }

    private void see(int code, int at, int length) {
        if (length < 0 || length > jpeg.limit() - at) {
            return;
        }
        ByteBuffer content = jpeg.slice(at, length);
        if (code == START_OF_SCAN) {
            scans.start(content);
        } else if (code == HUFFMAN_TABLES) {
            scans.setTables(content);
        } else if (scans.any()) {
            return;
        } else if (isFrame(code)) {
            if (frame.isEmpty()) {
                frame = Optional.of(content);
                baseline = code == BASELINE || code == EXTENDED;
            }
        } else if (code == EXIF_SEGMENT && content.mismatch(EXIF) == EXIF.limit()) {
            exif = exif.or(() -> Optional.of(content.position(EXIF.limit()).slice()));
        }
    }

    /** Frames of all processes; between them stand tables and what is reserved. */
    static boolean isFrame(int code) {
        return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
    }

    /** Restart markers and TEM stand alone; all others have a length. */
    private static boolean isStandalone(int code) {
        return code == 0x01 || (code >= 0xD0 && code <= 0xD8);
    }
}
