package dev.saccade.cli.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A piece a segment of a JPEG, its marker and its content, and what lies between segments. */
final class JpegSegments implements Format {

    private static final int MARKER = 2;

    @Override
    public List<byte[]> cut(byte[] input) {
        List<byte[]> pieces = new ArrayList<>();
        int at = 0;
        while (at < input.length) {
            int content = at + MARKER + Short.BYTES;
            if (hasLength(input, at) && content <= input.length) {
                int length = Short.toUnsignedInt(ByteBuffer.wrap(input).getShort(at + MARKER));
                int end = Math.min(input.length, Math.max(content, at + MARKER + length));
                pieces.add(
                        Bytes.concat(
                                Arrays.copyOfRange(input, at, at + MARKER),
                                Arrays.copyOfRange(input, content, end)));
                at = end;
            } else {
                int end = Math.min(input.length, at + MARKER);
                while (end < input.length && !hasLength(input, end)) {
                    end++;
                }
                pieces.add(Arrays.copyOfRange(input, at, end));
                at = end;
            }
        }
        return pieces;
    }

    @Override
    public byte[] join(List<byte[]> pieces) {
        List<byte[]> parts = new ArrayList<>();
        for (byte[] piece : pieces) {
            if (hasLength(piece, 0)) {
                parts.add(Arrays.copyOf(piece, MARKER));
                parts.add(Bytes.integer(piece.length, Short.BYTES, ByteOrder.BIG_ENDIAN));
                parts.add(Arrays.copyOfRange(piece, MARKER, piece.length));
            } else {
                parts.add(piece);
            }
        }
        return Bytes.concat(parts);
    }

    /** Returns whether a marker of a segment with a length stands at a place. */
    private static boolean hasLength(byte[] bytes, int at) {
        if (at + MARKER > bytes.length || bytes[at] != (byte) 0xFF) {
            return false;
        }
        int code = bytes[at + 1] & 0xFF;
        return code >= 0xC0 && code <= 0xFE && !(code >= 0xD0 && code <= 0xD9);
    }
}
