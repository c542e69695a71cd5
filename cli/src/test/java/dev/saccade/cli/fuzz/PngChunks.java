package dev.saccade.cli.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The signature of a PNG, and a piece a chunk: its name and its content. */
final class PngChunks implements Format {

    private static final int SIGNATURE = 8;
    private static final int NAME = 4;
    private static final int OVERHEAD = 12;

    @Override
    public List<byte[]> cut(byte[] input) {
        List<byte[]> pieces = new ArrayList<>();
        int at = Math.min(SIGNATURE, input.length);
        pieces.add(Arrays.copyOf(input, at));
        while (input.length - at >= OVERHEAD) {
            int length = ByteBuffer.wrap(input).getInt(at);
            int rest = input.length - at - OVERHEAD;
            int end = at + OVERHEAD + (length < 0 ? rest : Math.min(length, rest));
            pieces.add(Arrays.copyOfRange(input, at + NAME, end - NAME));
            at = end;
        }
        return pieces;
    }

    @Override
    public byte[] join(List<byte[]> pieces) {
        List<byte[]> parts = new ArrayList<>();
        for (byte[] piece : pieces) {
            boolean chunk = !parts.isEmpty() && piece.length >= NAME;
            if (chunk) {
                parts.add(integer(piece.length - NAME));
            }
            parts.add(piece);
            if (chunk) {
                parts.add(integer(Bytes.crc32(piece)));
            }
        }
        return Bytes.concat(parts);
    }

    private static byte[] integer(int value) {
        return Bytes.integer(value, Integer.BYTES, ByteOrder.BIG_ENDIAN);
    }
}
