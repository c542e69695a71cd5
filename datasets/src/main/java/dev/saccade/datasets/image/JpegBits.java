package dev.saccade.datasets.image;

/** Reads the bits of entropy-coded JPEG data up to the next marker, without stuffed bytes. */
final class JpegBits {

    /** Thrown where a scan ends before its last block. */
    static final class EndOfData extends RuntimeException {

        private static final long serialVersionUID = 1L;

        EndOfData() {
            super("its data end before its last block", null, false, false);
        }
    }

    private static final int MARKER = 0xFF;

    private final byte[] jpeg;
    private int at;
    private long bits;
    private int count;

    JpegBits(byte[] jpeg, int at) {
        this.jpeg = jpeg;
        this.at = at;
    }

    /** Returns the next 16 bits without consuming them, padded with zeros. */
    int peek16() {
        if (count < Short.SIZE) {
            fill();
        }
        return (int)
                        (count >= Short.SIZE
                                ? bits >>> (count - Short.SIZE)
                                : bits << (Short.SIZE - count))
                & 0xFFFF;
    }

    /** Consumes at most 32 bits. */
    void skip(int length) {
        if (count < length) {
            fill();
            if (count < length) {
                throw new EndOfData();
            }
        }
        count -= length;
    }

    /** Returns the next bits, at most 16. */
    int read(int length) {
        int value = peek16() >>> (Short.SIZE - length);
        skip(length);
        return value;
    }

    private void fill() {
        while (count <= Long.SIZE - 2 * Byte.SIZE && at < jpeg.length) {
            int value = Byte.toUnsignedInt(jpeg[at]);
            if (value == MARKER) {
                if (at + 1 >= jpeg.length || jpeg[at + 1] != 0) {
                    return;
                }
                at++;
            }
            at++;
            bits = bits << Byte.SIZE | value;
            count += Byte.SIZE;
        }
    }

    /** Returns the offset of the first byte of which no bit has been consumed. */
    int position() {
        int position = at;
        for (int unread = count / Byte.SIZE; unread > 0; unread--) {
            position--;
            boolean stuffed = jpeg[position] == 0 && jpeg[position - 1] == (byte) MARKER;
            position -= stuffed ? 1 : 0;
        }
        return position;
    }

    /** Continues at an offset. */
    void moveTo(int position) {
        at = position;
        bits = 0;
        count = 0;
    }
}
