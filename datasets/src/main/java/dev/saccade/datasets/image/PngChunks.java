package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.structures.Size;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * The chunks of a PNG, parsed in place, because Commons Imaging allocates the claimed length of a
 * chunk and accepts EXIF data with a wrong checksum ({@code HeaderParsersTest}).
 */
final class PngChunks {

    private static final int SIGNATURE = 8;

    private static final int OVERHEAD = 12;
    private static final int HEADER = 0x49484452;
    private static final int PALETTE = 0x504C5445;
    private static final int EXIF = 0x65584966;
    private static final int PIXELS = 0x49444154;
    private static final int END = 0x49454E44;
    private static final int ANIMATION = 0x6163544C;
    private static final int ANCILLARY = 0x20000000;
    private static final int COLOR_TYPE = 25;
    private static final int INTERLACE = 28;
    private static final int HEADER_LENGTH = 13;
    private static final int PALETTE_COLORS = 3;
    private static final int CGBI = 0x43674249;

    private final ByteBuffer png;
    private int start = SIGNATURE;
    private int next = SIGNATURE;
    private boolean complete;

    PngChunks(byte[] bytes) {
        this.png = ByteBuffer.wrap(bytes);
    }

    static ImageHeader header(byte[] bytes) {
        PngChunks chunks = new PngChunks(bytes);
        boolean hasFirst = chunks.next();
        if (hasFirst && chunks.is(CGBI)) {
            throw new IllegalArgumentException(
                    "it is a PNG for iOS; convert it with pngcrush -revert-iphone-optimizations");
        }
        if (!hasFirst || !chunks.is(HEADER)) {
            throw new IllegalArgumentException("its first chunk is not IHDR");
        }
        ByteBuffer header = chunks.content();
        int channels =
                switch (header.get(9)) {
                    case 2 -> 3;
                    case 4 -> 2;
                    case 6 -> 4;
                    default -> 1;
                };
        Optional<ByteBuffer> exif = Optional.empty();
        boolean isAnimated = false;
        while (chunks.next()) {
            isAnimated |= chunks.is(ANIMATION);
            if (exif.isEmpty() && chunks.is(EXIF) && chunks.isIntact()) {
                exif = Optional.of(chunks.content());
            }
        }
        return new ImageHeader(
                ImageHeader.Kind.PNG,
                new Size(/* height= */ header.getInt(4), /* width= */ header.getInt(0)),
                channels,
                header.get(8),
                exif.map(TiffDirectory::orientation).orElse(ImageHeader.UPRIGHT),
                chunks.complete ? ImageHeader.SOUND : ImageHeader.TRUNCATED,
                isAnimated ? List.of("is animated; only its default image is read") : List.of());
    }

    /** Moves to the next chunk; returns false at the end of the image or file. */
    boolean next() {
        if (complete || png.limit() - next < OVERHEAD) {
            return false;
        }
        long end = next + OVERHEAD + Integer.toUnsignedLong(png.getInt(next));
        if (end > png.limit()) {
            return false;
        }
        start = next;
        next = (int) end;
        complete = is(END);
        return true;
    }

    /** Returns whether the pixels can be decoded without this chunk. */
    boolean isAncillary() {
        return (png.getInt(start + 4) & ANCILLARY) != 0;
    }

    private boolean is(int kind) {
        return png.getInt(start + 4) == kind;
    }

    boolean isIntact() {
        CRC32 checksum = new CRC32();
        checksum.update(png.slice(start + 4, next - start - 8));
        return (int) checksum.getValue() == png.getInt(next - 4);
    }

    boolean isPixels() {
        return is(PIXELS);
    }

    boolean isPalette() {
        return is(PALETTE);
    }

    static boolean isInterlaced(byte[] bytes) {
        return bytes[INTERLACE] != 0;
    }

    /** Checks the critical chunks without decompressing pixels; throws if one is damaged. */
    static void check(byte[] bytes) {
        PngChunks chunks = new PngChunks(bytes);
        boolean hasPalette = false;
        boolean hasPixels = false;
        while (chunks.next()) {
            if (chunks.isAncillary()) {
                continue;
            }
            String name = chunks.name();
            checkArgument(chunks.isIntact(), "the checksum of its chunk %s is wrong", name);
            int length = chunks.content().limit();
            boolean isFirst = chunks.start == SIGNATURE;
            boolean isRight =
                    switch (chunks.png.getInt(chunks.start + 4)) {
                        case HEADER ->
                                isFirst && length == HEADER_LENGTH && isKnown(chunks.content());
                        case PALETTE ->
                                !hasPalette && !hasPixels && length % 3 == 0 && length <= 3 * 256;
                        case PIXELS -> hasPalette || bytes[COLOR_TYPE] != PALETTE_COLORS;
                        case END -> hasPixels;
                        default -> false;
                    };
            checkArgument(isRight, "its chunk %s is invalid, unknown or misplaced", name);
            hasPalette |= chunks.is(PALETTE);
            hasPixels |= chunks.isPixels();
        }
    }

    private static boolean isKnown(ByteBuffer header) {
        List<Integer> depths =
                switch (header.get(9)) {
                    case 0 -> List.of(1, 2, 4, 8, 16);
                    case PALETTE_COLORS -> List.of(1, 2, 4, 8);
                    case 2, 4, 6 -> List.of(8, 16);
                    default -> List.of();
                };
        int interlace = header.get(12);
        return depths.contains((int) header.get(8))
                && header.get(10) == 0
                && header.get(11) == 0
                && (interlace == 0 || interlace == 1);
    }

    private String name() {
        return US_ASCII.decode(png.slice(start + 4, 4)).toString();
    }

    private boolean isNeeded() {
        int colors = png.get(COLOR_TYPE);
        return is(PALETTE)
                ? colors == 2 || colors == PALETTE_COLORS || colors == 6
                : !isAncillary();
    }

    /**
     * Returns the file without chunks that do not affect the pixels, because libpng prints damaged
     * texts and profile names, including control characters; the same array if there are none.
     */
    static byte[] pixelsOnly(byte[] bytes) {
        PngChunks all = new PngChunks(bytes);
        boolean same = true;
        while (all.next()) {
            same &= all.isNeeded();
        }
        if (same) {
            return bytes;
        }
        ByteArrayOutputStream file = new ByteArrayOutputStream(bytes.length);
        file.write(bytes, 0, SIGNATURE);
        PngChunks chunks = new PngChunks(bytes);
        while (chunks.next()) {
            if (chunks.isNeeded()) {
                file.write(bytes, chunks.start, chunks.next - chunks.start);
            }
        }
        return file.toByteArray();
    }

    ByteBuffer content() {
        return png.slice(start + 8, next - start - OVERHEAD);
    }
}
