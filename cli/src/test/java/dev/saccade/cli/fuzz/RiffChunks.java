package dev.saccade.cli.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The form of a RIFF file such as WebP, and a piece a chunk: its name and its content. */
final class RiffChunks implements Format {

    private static final int NAME = 4;
    private static final int HEADER = 8;
    private static final int FORM = 12;

    @Override
    public List<byte[]> cut(byte[] input) {
        if (input.length < FORM) {
            return List.of(input);
        }
        List<byte[]> pieces = new ArrayList<>();
        pieces.add(Arrays.copyOfRange(input, HEADER, FORM));
        ByteBuffer in = ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = FORM; at + HEADER <= input.length; ) {
            int length = in.getInt(at + NAME);
            int rest = input.length - at - HEADER;
            int end = at + HEADER + (length < 0 ? rest : Math.min(length, rest));
            pieces.add(
                    Bytes.concat(
                            Arrays.copyOfRange(input, at, at + NAME),
                            Arrays.copyOfRange(input, at + HEADER, end)));
            at = end + (end - at & 1);
        }
        return pieces;
    }

    @Override
    public byte[] join(List<byte[]> pieces) {
        List<byte[]> parts = new ArrayList<>();
        for (byte[] piece : pieces) {
            if (parts.isEmpty() || piece.length < NAME) {
                parts.add(piece);
                continue;
            }
            parts.add(Arrays.copyOf(piece, NAME));
            parts.add(integer(piece.length - NAME));
            parts.add(Arrays.copyOfRange(piece, NAME, piece.length + (piece.length & 1)));
        }
        byte[] content = Bytes.concat(parts);
        return Bytes.concat(
                "RIFF".getBytes(StandardCharsets.US_ASCII), integer(content.length), content);
    }

    private static byte[] integer(int value) {
        return Bytes.integer(value, Integer.BYTES, ByteOrder.LITTLE_ENDIAN);
    }
}
