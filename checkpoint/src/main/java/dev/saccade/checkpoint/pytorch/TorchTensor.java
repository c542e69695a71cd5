package dev.saccade.checkpoint.pytorch;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.Tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** A strided tensor in a storage of a PyTorch file; offset and strides count elements. */
record TorchTensor(TorchStorage storage, long offset, List<Long> sizes, List<Long> strides)
        implements StoredArray {

    private static final int MAX_DIMENSIONS = 64;

    /** Checks that all elements are inside the storage. */
    TorchTensor {
        if (sizes.size() != strides.size() || sizes.size() > MAX_DIMENSIONS) {
            throw new MalformedException(
                    "damaged: a tensor has different numbers of sizes and" + " strides");
        }
        long last = offset;
        for (int i = 0; i < sizes.size(); i++) {
            long steps = Math.max(sizes.get(i) - 1, 0);
            last = Math.addExact(last, Math.multiplyExact(steps, strides.get(i)));
        }
        long elements = elements(sizes);
        if (elements > 0 && last >= storage.elements()) {
            throw new MalformedException(
                    "damaged: a tensor uses element %s of a storage of %s elements",
                    last, storage.elements());
        }
        if (elements > storage.elements()) {
            throw new MalformedException(
                    "a tensor of %s elements uses a storage of %s elements; call .contiguous()"
                            + " before saving it",
                    elements, storage.elements());
        }
    }

    private static long elements(List<Long> sizes) {
        long elements = 1;
        for (long size : sizes) {
            elements = Math.multiplyExact(elements, size);
        }
        return elements;
    }

    private long bytes() {
        return Math.multiplyExact(elements(sizes), storage.type().bytes());
    }

    @Override
    public long span() {
        if (bytes() == 0) {
            return 0;
        }
        long elements = 1;
        for (int i = 0; i < sizes.size(); i++) {
            elements += (sizes.get(i) - 1) * strides.get(i);
        }
        return elements * storage.type().bytes();
    }

    boolean isContiguous() {
        long expected = 1;
        for (int i = sizes.size() - 1; i >= 0; i--) {
            if (sizes.get(i) != 1 && strides.get(i) != expected) {
                return bytes() == 0;
            }
            expected *= sizes.get(i);
        }
        return true;
    }

    /** {@inheritDoc} Non-contiguous elements are copied to memory. */
    @Override
    public Tensor read(CheckpointFile file, TorchContent content) {
        long place = content.place(storage);
        int size = storage.type().bytes();
        Shape shape = new Shape(sizes);
        long begin = bytes() == 0 ? place : place + offset * size;
        if (isContiguous()) {
            return new Tensor(storage.type(), shape, file.range(begin, bytes()));
        }
        ByteBuffer bytes = file.header(begin, span());
        return new Tensor(
                storage.type(), shape, ordered(bytes, sizes, strides, size, (int) bytes()));
    }

    /**
     * Copies strided elements of {@code size} bytes into row-major order, {@code length} bytes in
     * all.
     */
    static ByteBuffer ordered(
            ByteBuffer bytes, List<Long> sizes, List<Long> strides, int size, int length) {
        ByteBuffer ordered = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        long[] index = new long[sizes.size()];
        long element = 0;
        while (ordered.hasRemaining()) {
            ordered.put(ordered.position(), bytes, (int) element * size, size);
            ordered.position(ordered.position() + size);
            for (int i = sizes.size() - 1; i >= 0; i--) {
                element += strides.get(i);
                if (++index[i] < sizes.get(i)) {
                    break;
                }
                element -= sizes.get(i) * strides.get(i);
                index[i] = 0;
            }
        }
        return ordered.flip();
    }
}
