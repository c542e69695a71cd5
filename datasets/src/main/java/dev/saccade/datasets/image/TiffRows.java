package dev.saccade.datasets.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Converts the rows of a strip or tile to little-endian values: bits, byte order, predictor. */
final class TiffRows {

    private final TiffLayout layout;
    private final ByteOrder order;
    private final ByteBuffer chunk;
    private final int values;
    private final ByteBuffer row;
    private final byte[] shuffled;

    TiffRows(TiffLayout layout, ByteOrder order, ByteBuffer chunk) {
        this.layout = layout;
        this.order = order;
        this.chunk = chunk.order(ByteOrder.BIG_ENDIAN);
        values = layout.chunkWidth() * layout.chunkChannels();
        row =
                ByteBuffer.allocate(Math.multiplyExact(values, layout.type().bytes()))
                        .order(ByteOrder.LITTLE_ENDIAN);
        shuffled = new byte[layout.predictor() == TiffLayout.PREDICTOR_FLOAT ? row.capacity() : 0];
    }

    /** Returns a row; the next call reuses it. */
    ByteBuffer next(int y) {
        int at = Math.toIntExact(y * layout.rowBytes());
        if (layout.isPacked()) {
            unpack(at);
        } else if (layout.predictor() == TiffLayout.PREDICTOR_FLOAT) {
            unshuffle(at);
        } else {
            chunk.get(at, row.array());
            makeLittleEndian(row.array(), order, layout.type());
            if (layout.predictor() == TiffLayout.PREDICTOR_HORIZONTAL) {
                accumulate();
            }
        }
        return row;
    }

    private void unpack(int at) {
        int bits = layout.bits();
        long buffer = 0;
        int available = 0;
        for (int i = 0, from = at; i < values; i++) {
            while (available < bits) {
                buffer = buffer << Byte.SIZE | Byte.toUnsignedLong(chunk.get(from++));
                available += Byte.SIZE;
            }
            available -= bits;
            int value = (int) (buffer >>> available) & (1 << bits) - 1;
            if (layout.type() == SampleType.UINT8) {
                row.put(i, (byte) value);
            } else {
                row.putShort(i * Short.BYTES, (short) value);
            }
        }
    }

    static void makeLittleEndian(byte[] bytes, ByteOrder order, SampleType type) {
        int size = order == ByteOrder.BIG_ENDIAN ? type.bytes() : 1;
        for (int at = 0; at < bytes.length && size > 1; at += size) {
            for (int low = at, high = at + size - 1; low < high; low++, high--) {
                byte swapped = bytes[low];
                bytes[low] = bytes[high];
                bytes[high] = swapped;
            }
        }
    }

    /** Adds the value of the previous pixel, as an integer of the same number of bytes. */
    private void accumulate() {
        int step = layout.chunkChannels();
        int bytes = layout.type().bytes();
        for (int i = step; i < values; i++) {
            int at = i * bytes;
            int before = (i - step) * bytes;
            switch (bytes) {
                case 1 -> row.put(at, (byte) (row.get(at) + row.get(before)));
                case 2 -> row.putShort(at, (short) (row.getShort(at) + row.getShort(before)));
                case 4 -> row.putInt(at, row.getInt(at) + row.getInt(before));
                default -> row.putLong(at, row.getLong(at) + row.getLong(before));
            }
        }
    }

    /** Adds the previous bytes; the highest bytes of all values come first, the lowest last. */
    private void unshuffle(int at) {
        chunk.get(at, shuffled);
        int step = layout.chunkChannels();
        for (int i = step; i < shuffled.length; i++) {
            shuffled[i] += shuffled[i - step];
        }
        int bytes = layout.type().bytes();
        for (int i = 0; i < values; i++) {
            for (int b = 0; b < bytes; b++) {
                row.put(i * bytes + bytes - 1 - b, shuffled[b * values + i]);
            }
        }
    }
}
