package dev.saccade.datasets.image;

import dev.saccade.core.structures.Size;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.zip.CRC32;

/** The chunks of a PNG, one after the other; each lies within the file or is not there. */
final class PngChunks {

    private static final int SIGNATURE = 8;

    private static final int OVERHEAD = 12;
    private static final int HEADER = 0x49484452;
    private static final int EXIF = 0x65584966;
    private static final int PIXELS = 0x49444154;
    private static final int TRANSPARENCY = 0x74524E53;
    private static final int END = 0x49454E44;
    private static final int ANCILLARY = 0x20000000;
    private static final int INTERLACE = 28;

    private final ByteBuffer png;
    private int start = SIGNATURE;
    private int next = SIGNATURE;
    private boolean complete;

    /** Stands before the first chunk. */
    PngChunks(byte[] bytes) {
        this.png = ByteBuffer.wrap(bytes);
    }

    /** Returns what a PNG says about itself; EXIF data are the first whose checksum is right. */
    static ImageHeader header(byte[] bytes) {
        PngChunks chunks = new PngChunks(bytes);
        if (!chunks.next() || !chunks.is(HEADER)) {
            throw new IllegalArgumentException("it does not begin with its size");
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
        while (chunks.next()) {
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
                chunks.complete ? ImageHeader.SOUND : ImageHeader.TRUNCATED);
    }

    /** Goes to the next chunk; false if the last one is reached, or the file ends before. */
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

    /** Returns whether the checksum is right. */
    boolean isIntact() {
        CRC32 checksum = new CRC32();
        checksum.update(png.slice(start + 4, next - start - 8));
        return (int) checksum.getValue() == png.getInt(next - 4);
    }

    /** Returns whether the chunk says which colors are transparent. */
    boolean isTransparency() {
        return is(TRANSPARENCY);
    }

    boolean isPixels() {
        return is(PIXELS);
    }

    /** Returns whether the pixels of a PNG with a header come in seven passes. */
    static boolean isInterlaced(byte[] bytes) {
        return bytes[INTERLACE] != 0;
    }

    /** Returns a PNG of the chunks that are kept; the same bytes if these are all. */
    static byte[] only(Predicate<PngChunks> kept, byte[] bytes) {
        PngChunks all = new PngChunks(bytes);
        boolean same = true;
        while (all.next()) {
            same &= kept.test(all);
        }
        if (same) {
            return bytes;
        }
        ByteArrayOutputStream file = new ByteArrayOutputStream(bytes.length);
        file.write(bytes, 0, SIGNATURE);
        PngChunks chunks = new PngChunks(bytes);
        while (chunks.next()) {
            if (kept.test(chunks)) {
                file.write(bytes, chunks.start, chunks.next - chunks.start);
            }
        }
        return file.toByteArray();
    }

    ByteBuffer content() {
        return png.slice(start + 8, next - start - OVERHEAD);
    }
}
