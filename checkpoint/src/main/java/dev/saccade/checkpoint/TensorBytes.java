package dev.saccade.checkpoint;

import java.nio.ByteBuffer;

/** The bytes of a tensor, little-endian, wherever they are. */
public interface TensorBytes {

    /** Returns how many there are. */
    long length();

    /** Returns all of them, at position 0. */
    ByteBuffer get();

    /** Copies all of them to the position of a buffer, which is moved behind them. */
    default void copyTo(ByteBuffer target) {
        target.put(get());
    }

    /** Bytes that are in memory. */
    record InMemory(ByteBuffer bytes) implements TensorBytes {

        @Override
        public long length() {
            return bytes.remaining();
        }

        @Override
        public ByteBuffer get() {
            return bytes.slice();
        }
    }
}
