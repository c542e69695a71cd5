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
 * Reuses the memory of batches: direct buffers, as allocating and zeroing one costs as much as
 * filling it; or, after the first copy to a GPU, pinned memory, which libtorch pools.
 */
final class BufferPool {

    private final Map<DataType, Queue<ByteBuffer>> idle = new ConcurrentHashMap<>();
    private final Pinning pinning;
    private volatile boolean isPinning;

    interface Pinning {
        PinnedMemory allocate(DataType type, long numbers);
    }

    /** A block of memory, and its owner if it is pinned. */
    record Buffer(DataType type, ByteBuffer bytes, Optional<PinnedMemory> pinned) {}

    BufferPool() {
        this(PinnedMemory::allocate);
    }

    BufferPool(Pinning pinning) {
        this.pinning = pinning;
    }

    /** Returns memory for {@code numbers} values, with arbitrary content. */
    Buffer take(DataType type, long numbers) {
        if (isPinning) {
            PinnedMemory memory = pinning.allocate(type, numbers);
            return new Buffer(type, memory.bytes(), Optional.of(memory));
        }
        int size = Math.toIntExact(numbers * type.getNumOfBytes());
        ByteBuffer buffer = idle(type).poll();
        if (buffer == null || buffer.capacity() < size) {
            // Buffers that are too small are left to the garbage collector; sizes soon stop
            // growing.
            buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        }
        return new Buffer(type, buffer.clear().limit(size), Optional.empty());
    }

    private Queue<ByteBuffer> idle(DataType type) {
        return idle.computeIfAbsent(type, any -> new ConcurrentLinkedQueue<>());
    }

    /**
     * Returns the values as an array on the device of a manager; on CPUs the array shares the
     * buffer's memory. After the first copy to a GPU, all further memory is pinned.
     */
    NDArray array(Buffer buffer, Shape shape, NDManager manager) {
        if (manager.getDevice().isGpu()) {
            pin();
        }
        return buffer.pinned()
                .map(memory -> memory.copyTo(manager, shape))
                .orElseGet(() -> manager.create(buffer.bytes(), shape, buffer.type()));
    }

    void pin() {
        isPinning = true;
        idle.clear();
    }

    void giveBack(Buffer buffer) {
        buffer.pinned().ifPresent(PinnedMemory::close);
        if (buffer.pinned().isEmpty() && !isPinning) {
            idle(buffer.type()).add(buffer.bytes());
        }
    }
}
