package dev.saccade.datasets.loader;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.memory.PinnedMemory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Memory that batches are written to: direct buffers that are used again, as allocating (and
 * zeroing) one costs as much as filling it; or, once a batch has gone to a GPU, pinned memory, of
 * which libtorch has a pool of its own.
 */
final class BufferPool {

    private final Map<DataType, Queue<ByteBuffer>> idle = new ConcurrentHashMap<>();
    private final Pinning pinning;
    private volatile boolean isPinning;

    /** Gives pinned memory. */
    interface Pinning {
        PinnedMemory allocate(DataType type, long numbers);
    }

    /**
     * Memory for numbers.
     *
     * @param bytes what is written
     * @param pinned owns them, if they are pinned
     */
    record Buffer(DataType type, ByteBuffer bytes, Optional<PinnedMemory> pinned) {}

    BufferPool() {
        this(PinnedMemory::allocate);
    }

    /** Makes a pool with another way to pinned memory. */
    BufferPool(Pinning pinning) {
        this.pinning = pinning;
    }

    /** Returns memory for so many numbers, whose content is arbitrary. */
    Buffer take(DataType type, long numbers) {
        if (isPinning) {
            PinnedMemory memory = pinning.allocate(type, numbers);
            return new Buffer(type, memory.bytes(), Optional.of(memory));
        }
        int size = Math.toIntExact(numbers * type.getNumOfBytes());
        ByteBuffer buffer = idle(type).poll();
        if (buffer == null || buffer.capacity() < size) {
            // One that is too small is left to the garbage collector: sizes soon stop growing.
            buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        }
        return new Buffer(type, buffer.clear().limit(size), Optional.empty());
    }

    private Queue<ByteBuffer> idle(DataType type) {
        return idle.computeIfAbsent(type, any -> new ConcurrentLinkedQueue<>());
    }

    /**
     * Returns the numbers as an array on the device of a manager; on CPUs it is the buffer's own
     * memory. If that is a GPU, all memory that is taken from now on will be pinned.
     */
    NDArray array(Buffer buffer, Shape shape, NDManager manager) {
        if (manager.getDevice().isGpu()) {
            pin();
        }
        return buffer.pinned()
                .map(memory -> memory.copyTo(manager, shape))
                .orElseGet(() -> manager.create(buffer.bytes(), shape, buffer.type()));
    }

    /** Has all memory pinned that is taken from now on. */
    void pin() {
        isPinning = true;
        idle.clear();
    }

    /** Takes memory back. */
    void giveBack(Buffer buffer) {
        buffer.pinned().ifPresent(PinnedMemory::close);
        if (buffer.pinned().isEmpty() && !isPinning) {
            idle(buffer.type()).add(buffer.bytes());
        }
    }
}
