package dev.saccade.datasets.image;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A Huffman table of a JPEG. */
final class HuffmanCodes {

    private static final int LONGEST = 16;
    private static final int QUICK = 9;

    /** Symbol and length of each code of at most 9 bits, by the bits that begin with it. */
    private final short[] quick = new short[1 << QUICK];

    /** First 16-bit value behind the codes of each length. */
    private final int[] ends = new int[LONGEST + 1];

    private final int[] firstCodes = new int[LONGEST + 1];
    private final int[] firstSymbols = new int[LONGEST + 1];
    private final byte[] symbols;

    /** Reads 16 counts of codes and their symbols. */
    HuffmanCodes(ByteBuffer counts, byte[] symbols) {
        this.symbols = symbols;
        int code = 0;
        int symbol = 0;
        for (int length = 1; length <= LONGEST; length++) {
            int codes = Byte.toUnsignedInt(counts.get(length - 1));
            firstCodes[length] = code;
            firstSymbols[length] = symbol;
            for (int i = 0; i < codes && length <= QUICK; i++) {
                int from = Math.min((code + i) << (QUICK - length), quick.length);
                int to = Math.min((code + i + 1) << (QUICK - length), quick.length);
                short entry =
                        (short) (length << Byte.SIZE | Byte.toUnsignedInt(symbols[symbol + i]));
                Arrays.fill(quick, from, to, entry);
            }
            code += codes;
            symbol += codes;
            ends[length] = code << (LONGEST - length);
            code <<= 1;
        }
    }

    /**
     * Returns the next symbol and consumes the value that follows it, whose length is in the lower
     * four bits of the symbol; -1 if no code begins with the next bits.
     */
    int nextWithValue(JpegBits bits) {
        int entry = quick[bits.peek16() >>> (LONGEST - QUICK)];
        if (entry != 0) {
            bits.skip((entry >> Byte.SIZE) + (entry & 15));
            return entry & 0xFF;
        }
        int symbol = next(bits);
        bits.skip(symbol < 0 ? 0 : symbol & 15);
        return symbol;
    }

    /** Returns the next symbol; -1 if no code begins with the next bits. */
    int next(JpegBits bits) {
        int peeked = bits.peek16();
        int entry = quick[peeked >>> (LONGEST - QUICK)];
        if (entry != 0) {
            bits.skip(entry >> Byte.SIZE);
            return entry & 0xFF;
        }
        for (int length = QUICK + 1; length <= LONGEST; length++) {
            if (peeked < ends[length]) {
                bits.skip(length);
                int index = (peeked >>> (LONGEST - length)) - firstCodes[length];
                return Byte.toUnsignedInt(symbols[firstSymbols[length] + index]);
            }
        }
        bits.skip(LONGEST);
        return -1;
    }
}
