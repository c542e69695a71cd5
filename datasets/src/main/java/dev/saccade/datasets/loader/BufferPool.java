package dev.saccade.datasets.loader;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Direct buffers that are used again; allocating (and zeroing) one costs as much as filling it. */
final class BufferPool {

    private final Queue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

    /** Returns a buffer of a number of bytes, whose content is arbitrary. */
    ByteBuffer take(long bytes) {
        int size = Math.toIntExact(bytes);
        ByteBuffer buffer = idle.poll();
        if (buffer == null || buffer.capacity() < size) {
            // One that is too small is left to the garbage collector: sizes soon stop growing.
            buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        }
        return buffer.clear().limit(size);
    }

    /** Takes a buffer back. */
    void giveBack(ByteBuffer buffer) {
        idle.add(buffer);
    }
}
