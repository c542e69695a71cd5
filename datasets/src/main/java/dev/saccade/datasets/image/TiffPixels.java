package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Checks whether a TIFF has all of its pixels. OpenCV skips damaged parts of strips and tiles, and
 * leaves them black.
 *
 * <p>Counts the bytes of pixels that are plain or compressed by LZW, Deflate or PackBits; JPEG and
 * fax are left to the decoder. Damage that does not shorten the data is not detected.
 */
final class TiffPixels {

    private static final int COMPRESSION = 0x103;
    private static final int FILL_ORDER = 0x10A;
    private static final int STRIPS = 0x111;
    private static final int ROWS_OF_STRIP = 0x116;
    private static final int PLANES = 0x11C;
    private static final int TILES = 0x144;

    private static final int PLAIN = 1;
    private static final int LZW = 5;
    private static final int DEFLATE = 8;
    private static final int OLD_DEFLATE = 32946;
    private static final int PACK_BITS = 32773;

    /** Compressions that OpenCV's libtiff does not support. */
    private static final Map<Long, String> UNSUPPORTED =
            Map.of(
                    34712L, "JPEG 2000",
                    34887L, "LERC",
                    34925L, "LZMA",
                    50000L, "Zstandard",
                    50001L, "WebP",
                    50002L, "JPEG XL");

    private static final int SUBSAMPLED = 6;
    private static final int SEPARATE = 2;

    private static final int LZW_CLEAR = 256;
    private static final int LZW_END = 257;
    private static final int LZW_CODES = 4096;

    private final byte[] tiff;
    private final TiffDirectory directory;
    private final boolean isTiled;
    private final boolean isSeparate;
    private final long channels;
    private final long rows;
    private final long bytesOfRow;
    private final long compression;

    private TiffPixels(byte[] tiff) {
        this.tiff = tiff;
        directory = new TiffDirectory(ByteBuffer.wrap(tiff));
        isTiled = directory.values(TILES).isPresent();
        isSeparate = directory.value(PLANES, 1) == SEPARATE;
        channels = directory.value(TiffDirectory.CHANNELS, 1);
        long height = directory.value(TiffDirectory.HEIGHT, 0);
        rows =
                isTiled
                        ? directory.value(TiffDirectory.TILE_HEIGHT, 0)
                        : Math.max(1, Math.min(height, directory.value(ROWS_OF_STRIP, height)));
        long bits = directory.value(TiffDirectory.BITS, 1) * (isSeparate ? 1 : channels);
        long width = directory.value(isTiled ? TiffDirectory.TILE_WIDTH : TiffDirectory.WIDTH, 0);
        bytesOfRow = (width * bits + Byte.SIZE - 1) / Byte.SIZE;
        compression = directory.value(COMPRESSION, PLAIN);
    }

    /** Throws if pixels are missing, or compression or directory are unsupported or damaged. */
    static void check(byte[] tiff) {
        new TiffPixels(tiff).check();
    }

    private void check() {
        checkArgument(
                !UNSUPPORTED.containsKey(compression),
                "its compression %s is not supported; save it with LZW or Deflate",
                UNSUPPORTED.get(compression));
        Optional<TiffDirectory.Values> offsets = directory.values(isTiled ? TILES : STRIPS);
        Optional<TiffDirectory.Values> counts =
                directory.values(
                        isTiled ? TiffDirectory.TILE_LENGTHS : TiffDirectory.STRIP_LENGTHS);
        boolean isReported =
                offsets.isPresent()
                        && counts.isPresent()
                        && offsets.get().count() == counts.get().count()
                        && directory.value(TiffDirectory.COLORS, 0) != SUBSAMPLED
                        && directory.value(FILL_ORDER, 1) == 1;
        long parts = isReported ? offsets.get().count() : 0;
        long height = directory.value(TiffDirectory.HEIGHT, 0);
        long ofPlane = isSeparate ? Math.max(1, parts / channels) : parts;
        for (long i = 0; i < parts; i++) {
            long count = counts.get().at(i);
            long left = isTiled ? rows : Math.max(0, height - i % ofPlane * rows);
            long expected = bytesOfRow * Math.min(rows, left);
            checkArgument(
                    count == 0 || length(offsets.get().at(i), count, expected) >= expected,
                    "%s %s of %s is incomplete",
                    isTiled ? "tile" : "strip",
                    i + 1,
                    parts);
        }
    }

    /** Returns the uncompressed length of a strip or tile; may stop counting at {@code needed}. */
    private long length(long offset, long count, long needed) {
        long left = Math.max(0, tiff.length - offset);
        ByteBuffer part = left == 0 ? ByteBuffer.allocate(0) : part(offset, Math.min(count, left));
        return switch (Math.toIntExact(compression)) {
            case PLAIN -> left;
            case LZW -> lzw(part, needed);
            case DEFLATE, OLD_DEFLATE -> deflate(part, needed);
            case PACK_BITS -> packBits(part, needed);
            default -> needed;
        };
    }

    private ByteBuffer part(long offset, long count) {
        return ByteBuffer.wrap(tiff, Math.toIntExact(offset), Math.toIntExact(count)).slice();
    }

    private static long deflate(ByteBuffer part, long needed) {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(part);
            byte[] bytes = new byte[1 << 16];
            int read;
            do {
                // Continue after the last pixel, so that the checksum is verified.
                read = inflater.inflate(bytes);
            } while (read > 0 && inflater.getBytesWritten() <= needed);
            return inflater.getBytesWritten();
        } catch (DataFormatException e) {
            return 0;
        } finally {
            inflater.end();
        }
    }

    private static long packBits(ByteBuffer part, long needed) {
        long length = 0;
        while (length < needed && part.remaining() > 1) {
            int run = part.get();
            int bytes = run < 0 ? 1 : run + 1;
            if (run != Byte.MIN_VALUE) {
                length += run < 0 ? 1 - run : Math.min(bytes, part.remaining());
                part.position(part.position() + Math.min(bytes, part.remaining()));
            }
        }
        return length;
    }

    /** Returns the uncompressed length by adding the lengths of codes, without decoding them. */
    private static long lzw(ByteBuffer part, long needed) {
        boolean isOldStyle = part.remaining() > 1 && part.get(0) == 0;
        if (isOldStyle) {
            return needed;
        }
        int[] lengths = new int[LZW_CODES];
        int next = LZW_END + 1;
        int last = LZW_CLEAR;
        int width = 9;
        int bits = 0;
        int available = 0;
        long length = 0;
        while (length < needed) {
            while (available < width) {
                if (!part.hasRemaining()) {
                    return length;
                }
                bits = bits << Byte.SIZE | Byte.toUnsignedInt(part.get());
                available += Byte.SIZE;
            }
            available -= width;
            int code = bits >>> available & (1 << width) - 1;
            if (code == LZW_END) {
                return length;
            }
            if (code == LZW_CLEAR) {
                next = LZW_END + 1;
                width = 9;
            } else {
                boolean isFirst = last == LZW_CLEAR;
                if (isFirst ? code > LZW_CLEAR : code > next) {
                    return length;
                }
                if (!isFirst && next < LZW_CODES) {
                    lengths[next++] = 1 + (last < LZW_CLEAR ? 1 : lengths[last]);
                }
                length += code < LZW_CLEAR ? 1 : lengths[code];
                width = Math.min(12, Integer.SIZE - Integer.numberOfLeadingZeros(next + 1));
            }
            last = code;
        }
        return length;
    }
}
