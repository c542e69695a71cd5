package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Compressions of TIFF that lose nothing. */
enum TiffCompression {
    NONE(1),
    LZW(4096),
    DEFLATE(1033),
    PACK_BITS(64);

    private static final Map<Integer, String> UNSUPPORTED =
            Map.ofEntries(
                    Map.entry(2, "CCITT fax"),
                    Map.entry(3, "CCITT fax"),
                    Map.entry(4, "CCITT fax"),
                    Map.entry(6, "JPEG"),
                    Map.entry(7, "JPEG"),
                    Map.entry(34712, "JPEG 2000"),
                    Map.entry(34887, "LERC"),
                    Map.entry(34925, "LZMA"),
                    Map.entry(50000, "Zstandard"),
                    Map.entry(50001, "WebP"),
                    Map.entry(50002, "JPEG XL"));

    private static final int LZW_CLEAR = 256;
    private static final int LZW_END = 257;
    private static final int LZW_CODES = 4096;
    private static final int LZW_MAX_WIDTH = 12;

    private final int maxRatio;

    TiffCompression(int maxRatio) {
        this.maxRatio = maxRatio;
    }

    static TiffCompression of(int code) {
        return switch (code) {
            case 1 -> NONE;
            case 5 -> LZW;
            case 8, 32946 -> DEFLATE;
            case 32773 -> PACK_BITS;
            default ->
                    throw new IllegalArgumentException(
                            "its compression "
                                    + UNSUPPORTED.getOrDefault(code, Integer.toString(code))
                                    + " is not supported for more than 8 bits or other than 3"
                                    + " channels; save it with LZW or Deflate");
        };
    }

    /**
     * Decompresses the first {@code length} bytes of a strip or tile.
     *
     * @throws IllegalArgumentException if they are missing or damaged
     */
    byte[] decode(ByteBuffer packed, int length) {
        // Checked before memory is allocated.
        checkArgument(
                length <= (long) maxRatio * packed.remaining(), "a strip or tile is incomplete");
        byte[] plain = new byte[length];
        int count =
                switch (this) {
                    case NONE -> {
                        packed.get(plain);
                        yield length;
                    }
                    case LZW -> lzw(packed, plain);
                    case DEFLATE -> inflate(packed, plain);
                    case PACK_BITS -> unpackBits(packed, plain);
                };
        checkArgument(count == length, "a strip or tile is incomplete");
        return plain;
    }

    private static int inflate(ByteBuffer packed, byte[] plain) {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(packed);
            int count = 0;
            int read = 1;
            while (count < plain.length && read > 0) {
                read = inflater.inflate(plain, count, plain.length - count);
                count += read;
            }
            // Verifies the checksum, which follows the last byte.
            inflater.inflate(new byte[1]);
            return count;
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("a strip or tile is damaged", e);
        } finally {
            inflater.end();
        }
    }

    private static int unpackBits(ByteBuffer packed, byte[] plain) {
        int count = 0;
        while (count < plain.length && packed.remaining() > 1) {
            int run = packed.get();
            if (run >= 0) {
                int bytes = Math.min(Math.min(run + 1, packed.remaining()), plain.length - count);
                packed.get(plain, count, bytes);
                count += bytes;
            } else if (run != Byte.MIN_VALUE) {
                int bytes = Math.min(1 - run, plain.length - count);
                Arrays.fill(plain, count, count + bytes, packed.get());
                count += bytes;
            }
        }
        return count;
    }

    /**
     * Decodes LZW with codes of 9 to 12 bits, highest bit first. The string of a code is a part of
     * the bytes decoded so far, so only its start and length are stored.
     */
    private static int lzw(ByteBuffer packed, byte[] plain) {
        checkArgument(
                packed.remaining() < 2 || packed.get(0) != 0 || (packed.get(1) & 1) == 0,
                "its LZW is of the old type; save it again");
        int[] starts = new int[LZW_CODES];
        int[] lengths = new int[LZW_CODES];
        int next = LZW_END + 1;
        int width = 9;
        int bits = 0;
        int available = 0;
        int count = 0;
        int lastStart = -1;
        int lastLength = 0;
        while (count < plain.length) {
            while (available < width) {
                if (!packed.hasRemaining()) {
                    return count;
                }
                bits = bits << Byte.SIZE | Byte.toUnsignedInt(packed.get());
                available += Byte.SIZE;
            }
            available -= width;
            int code = bits >>> available & (1 << width) - 1;
            if (code == LZW_END) {
                return count;
            }
            if (code == LZW_CLEAR) {
                next = LZW_END + 1;
                width = 9;
                lastStart = -1;
                continue;
            }
            boolean isFirst = lastStart < 0;
            checkArgument(isFirst ? code < LZW_CLEAR : code <= next, "a strip or tile is damaged");
            if (!isFirst && next < LZW_CODES) {
                // The last string and the next byte, which follows it in the decoded bytes.
                starts[next] = lastStart;
                lengths[next++] = lastLength + 1;
            }
            lastStart = count;
            if (code < LZW_CLEAR) {
                lastLength = 1;
                plain[count++] = (byte) code;
            } else {
                lastLength = lengths[code];
                checkArgument(lastLength > 0, "a strip or tile is damaged");
                int from = starts[code];
                int to = Math.min(plain.length, count + lastLength);
                // Byte by byte, as a string may overlap its copy.
                while (count < to) {
                    plain[count++] = plain[from++];
                }
            }
            width = Math.min(LZW_MAX_WIDTH, Integer.SIZE - Integer.numberOfLeadingZeros(next + 1));
        }
        return count;
    }
}
