package dev.saccade.checkpoint;

import java.nio.ByteBuffer;

/** Little-endian bytes of a tensor, in memory or in a file. */
public interface TensorBytes {

    long length();

    /** Returns all bytes, at position 0. */
    ByteBuffer get();

    /** Copies all bytes to a buffer and advances its position. */
    default void copyTo(ByteBuffer target) {
        target.put(get());
    }

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
