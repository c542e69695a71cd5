package dev.saccade.cli.fuzz;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * A piece an entry of a zip file that compresses nothing: its name, an end of line, its content.
 */
final class ZipEntries implements Format {

    private static final int LOCAL = 0x04034b50;
    private static final int CENTRAL = 0x02014b50;
    private static final int END = 0x06054b50;

    @Override
    public List<byte[]> cut(byte[] input) {
        List<byte[]> pieces = new ArrayList<>();
        try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(input))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                byte[] name = (entry.getName() + "\n").getBytes(StandardCharsets.UTF_8);
                pieces.add(Bytes.concat(name, in.readAllBytes()));
            }
        } catch (IOException | IllegalArgumentException e) {
            pieces.add(input);
        }
        return pieces.isEmpty() ? List.of(input) : pieces;
    }

    @Override
    public byte[] join(List<byte[]> pieces) {
        List<byte[]> parts = new ArrayList<>();
        List<byte[]> directory = new ArrayList<>();
        int at = 0;
        for (byte[] piece : pieces) {
            int end = 0;
            while (end < piece.length && piece[end] != '\n') {
                end++;
            }
            byte[] name = Arrays.copyOf(piece, end);
            byte[] content =
                    Arrays.copyOfRange(piece, Math.min(end + 1, piece.length), piece.length);
            byte[] fixed = fixed(name, content);
            parts.add(Bytes.concat(integer(LOCAL), fixed, name, content));
            byte[] place =
                    ByteBuffer.allocate(14).order(ByteOrder.LITTLE_ENDIAN).putInt(10, at).array();
            directory.add(Bytes.concat(integer(CENTRAL), new byte[2], fixed, place, name));
            at += parts.get(parts.size() - 1).length;
        }
        ByteBuffer end = ByteBuffer.allocate(22).order(ByteOrder.LITTLE_ENDIAN).putInt(END);
        end.putInt(0).putShort((short) pieces.size()).putShort((short) pieces.size());
        end.putInt(Bytes.concat(directory).length).putInt(at);
        return Bytes.concat(Bytes.concat(parts), Bytes.concat(directory), end.array());
    }

    /** Returns what local and central headers have in common. */
    private static byte[] fixed(byte[] name, byte[] content) {
        ByteBuffer fixed = ByteBuffer.allocate(26).order(ByteOrder.LITTLE_ENDIAN);
        fixed.putInt(10, Bytes.crc32(content))
                .putInt(14, content.length)
                .putInt(18, content.length);
        return fixed.putShort(22, (short) name.length).array();
    }

    private static byte[] integer(int value) {
        return Bytes.integer(value, Integer.BYTES, ByteOrder.LITTLE_ENDIAN);
    }
}
