package dev.saccade.cli.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/** Small helps with arrays of bytes. */
final class Bytes {

    private Bytes() {}

    static byte[] concat(List<byte[]> parts) {
        return concat(parts.toArray(byte[][]::new));
    }

    static byte[] concat(byte[]... parts) {
        byte[] whole = new byte[Arrays.stream(parts).mapToInt(part -> part.length).sum()];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, whole, at, part.length);
            at += part.length;
        }
        return whole;
    }

    /** Returns the first bytes of an array, the others and what stands for those in between. */
    static byte[] replace(byte[] bytes, int from, int to, byte... by) {
        return concat(Arrays.copyOf(bytes, from), by, Arrays.copyOfRange(bytes, to, bytes.length));
    }

    /** Returns an integer of 1 to 8 bytes. */
    static byte[] integer(long value, int width, ByteOrder order) {
        byte[] little =
                ByteBuffer.allocate(Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(value)
                        .array();
        byte[] bytes = Arrays.copyOf(little, width);
        if (order == ByteOrder.BIG_ENDIAN) {
            for (int i = 0; i < width; i++) {
                bytes[i] = little[width - 1 - i];
            }
        }
        return bytes;
    }

    /** Returns the parts of a text between strokes, a byte a character. */
    static List<byte[]> split(String texts) {
        return Texts.split(texts, StandardCharsets.ISO_8859_1);
    }

    static int crc32(byte[]... parts) {
        CRC32 checksum = new CRC32();
        for (byte[] part : parts) {
            checksum.update(part);
        }
        return (int) checksum.getValue();
    }
}
