package dev.saccade.cli.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A piece an operation of the pickles that a file begins with, and what follows them. */
final class PickleOperations implements Format {

    private static final int PICKLES = 5;

    @Override
    public List<byte[]> cut(byte[] input) {
        List<byte[]> pieces = new ArrayList<>();
        int at = 0;
        for (int ends = 0; ends < PICKLES && at < input.length; ) {
            int end = end(input, at);
            pieces.add(Arrays.copyOfRange(input, at, end));
            ends += input[at] == '.' ? 1 : 0;
            at = end;
        }
        pieces.add(Arrays.copyOfRange(input, at, input.length));
        return pieces;
    }

    @Override
    public byte[] join(List<byte[]> pieces) {
        return Bytes.concat(pieces);
    }

    private static int end(byte[] input, int at) {
        int code = input[at] & 0xFF;
        long length =
                switch (code) {
                    case 'K', 'q', 'h', 0x80 -> 1;
                    case 'M' -> 2;
                    case 'J', 'r', 'j' -> 4;
                    case 'G', 0x95 -> 8;
                    case 'U', 'C', 0x8A, 0x8C -> 1 + number(input, at + 1, 1);
                    case 'X', 'T', 'B', 0x8B -> 4 + number(input, at + 1, 4);
                    case 0x8D, 0x8E, 0x96 -> 8 + number(input, at + 1, 8);
                    case 'c' -> lines(input, at + 1);
                    default -> 0;
                };
        long rest = input.length - at - 1L;
        return at + 1 + (int) (length < 0 ? rest : Math.min(length, rest));
    }

    private static long number(byte[] input, int at, int width) {
        byte[] number = new byte[Long.BYTES];
        int there = Math.max(0, Math.min(width, input.length - at));
        System.arraycopy(input, Math.min(at, input.length), number, 0, there);
        return ByteBuffer.wrap(number).order(ByteOrder.LITTLE_ENDIAN).getLong()
                & Long.MAX_VALUE >> 1;
    }

    /** Returns the length of two lines. */
    private static int lines(byte[] input, int at) {
        int end = at;
        for (int ends = 0; ends < 2 && end < input.length; end++) {
            ends += input[end] == '\n' ? 1 : 0;
        }
        return end - at;
    }
}
