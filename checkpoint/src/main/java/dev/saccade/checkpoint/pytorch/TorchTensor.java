package dev.saccade.checkpoint.pytorch;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.Tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A tensor of a PyTorch file: a view of a storage.
 *
 * @param storage the storage
 * @param offset its first element there
 * @param sizes its shape
 * @param strides elements between neighbors along each dimension
 */
record TorchTensor(TorchStorage storage, long offset, List<Long> sizes, List<Long> strides)
        implements StoredArray {

    private static final int MAX_DIMENSIONS = 64;

    /** Checks that all elements lie within the storage. */
    TorchTensor {
        if (sizes.size() != strides.size() || sizes.size() > MAX_DIMENSIONS) {
            throw new MalformedException("damaged: a tensor's sizes and strides do not agree");
        }
        long last = offset;
        for (int i = 0; i < sizes.size(); i++) {
            long steps = Math.max(sizes.get(i) - 1, 0);
            last = Math.addExact(last, Math.multiplyExact(steps, strides.get(i)));
        }
        long elements = elements(sizes);
        if (elements > 0 && last >= storage.elements()) {
            throw new MalformedException(
                    "damaged: a tensor reaches element %s of a storage of %s",
                    last, storage.elements());
        }
        if (elements > storage.elements()) {
            throw new MalformedException(
                    "a tensor of %s elements repeats a storage of %s; save it after .contiguous()",
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

    /** Returns the size of the tensor in bytes. */
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

    /** Returns whether its elements lie in the order of a row-major tensor, without gaps. */
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

    /** {@inheritDoc} Elements out of order are copied to memory. */
    @Override
    public Tensor read(CheckpointFile file, TorchContent content) {
        long place = content.place(storage);
        int size = storage.type().bytes();
        Shape shape = new Shape(sizes);
        long begin = bytes() == 0 ? place : place + offset * size;
        if (isContiguous()) {
            return new Tensor(storage.type(), shape, file.stretch(begin, bytes()));
        }
        ByteBuffer bytes = file.description(begin, span());
        return new Tensor(
                storage.type(), shape, ordered(bytes, sizes, strides, size, (int) bytes()));
    }

    /**
     * Returns elements in row-major order.
     *
     * @param strides elements between neighbors along each dimension
     * @param size bytes of an element
     * @param length bytes of all elements
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
