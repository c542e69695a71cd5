package dev.saccade.checkpoint.pytorch;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.MalformedException;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.pytorch.Pickle.Tuple;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A NumPy array stored in a pickle, as in detectron2's {@code .pkl} files. */
final class NumpyArray implements StoredArray {

    /** Length of the pickled state: version, shape, dtype, Fortran order and bytes. */
    private static final int STATE = 5;

    /** A dtype, such as {@code f4}. */
    static final class Type {

        private final String code;
        private boolean isBigEndian;

        Type(String code) {
            this.code = code;
        }

        /** Sets the byte order from a pickled state: (version, order, ...). */
        void restore(Object state) {
            isBigEndian =
                    state instanceof Tuple tuple
                            && tuple.items().size() > 1
                            && ">".equals(tuple.items().get(1));
        }
    }

    private Optional<ElementType> type = Optional.empty();
    private List<Long> sizes = List.of();
    private boolean isFortran;
    private ByteBuffer data = ByteBuffer.allocate(0);

    boolean isNumeric() {
        return type.isPresent();
    }

    /** Sets the content from the argument of {@code __setstate__}. */
    void restore(Object state) {
        if (state instanceof Tuple tuple && tuple.items().size() == STATE) {
            List<Object> items = tuple.items();
            boolean columnsFirst = Boolean.TRUE.equals(items.get(3)) || items.get(3).equals(1L);
            set(items.get(1), items.get(2), columnsFirst, items.get(4));
        }
    }

    /**
     * Sets the content; {@code bytes} are {@link Pickle.Bytes}, or Python 2 text that is valid
     * UTF-8.
     */
    void set(Object shape, Object dtype, boolean columnsFirst, Object bytes) {
        Optional<ElementType> found =
                dtype instanceof Type each ? ElementType.ofNumpy(each.code) : Optional.empty();
        Optional<ByteBuffer> content = content(bytes);
        if (found.isEmpty() || content.isEmpty() || !(shape instanceof Tuple tuple)) {
            return;
        }
        if (((Type) dtype).isBigEndian && found.get().bytes() > 1) {
            throw new MalformedException("big-endian NumPy arrays are not supported");
        }
        sizes = PickleGlobals.integers(tuple);
        long length = found.get().bytes();
        for (long size : sizes) {
            length = Math.multiplyExact(length, size);
        }
        if (length != content.get().remaining()) {
            throw new MalformedException(
                    "damaged: a NumPy array of shape %s has the wrong number of bytes", sizes);
        }
        type = found;
        isFortran = columnsFirst;
        data = content.get();
    }

    private static Optional<ByteBuffer> content(Object bytes) {
        if (bytes instanceof Pickle.Bytes raw) {
            return Optional.of(raw.data());
        }
        return bytes instanceof String text
                ? Optional.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)))
                : Optional.empty();
    }

    @Override
    public long span() {
        return data.remaining();
    }

    @Override
    public Tensor read(CheckpointFile file, TorchContent content) {
        ElementType element = type.orElseThrow();
        ByteBuffer bytes = data;
        if (isFortran && sizes.size() > 1 && data.hasRemaining()) {
            List<Long> strides = new ArrayList<>();
            long stride = 1;
            for (long size : sizes) {
                strides.add(stride);
                stride *= size;
            }
            bytes = TorchTensor.ordered(data, sizes, strides, element.bytes(), data.remaining());
        }
        return new Tensor(element, new Shape(sizes), bytes);
    }
}
