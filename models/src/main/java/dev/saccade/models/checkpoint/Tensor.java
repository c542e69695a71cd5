package dev.saccade.models.checkpoint;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Preconditions;

import dev.saccade.core.ops.MemoryFormat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * A stored tensor of at most 1 GiB: contiguous, row-major, often a view of a mapped file.
 *
 * @param type what its elements are
 * @param shape its shape; {@code ()} for a single element
 * @param data its bytes, little-endian, read-only
 */
public record Tensor(ElementType type, Shape shape, ByteBuffer data) {

    /** Makes a tensor; the buffer's content is shared, its position is not. */
    public Tensor {
        data = data.slice().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
        Preconditions.checkArgument(
                data.remaining() == elements(shape) * type.bytes(),
                "%s bytes for %s of %s",
                data.remaining(),
                type,
                shape);
        Preconditions.checkArgument(
                data.remaining() <= MappedFile.MAX_SLICE, "%s of %s: over 1 GiB", type, shape);
    }

    /** Returns a copy of the values of an array. */
    public static Tensor of(NDArray array) {
        return new Tensor(
                ElementType.of(array.getDataType()), array.getShape(), array.toByteBuffer(false));
    }

    /** Returns the number of elements; 1 for the shape {@code ()}. */
    public long elements() {
        return elements(shape);
    }

    private static long elements(Shape shape) {
        long elements = 1;
        for (long dimension : shape.getShape()) {
            elements = Math.multiplyExact(elements, dimension);
        }
        return elements;
    }

    @Override
    public ByteBuffer data() {
        return data.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the elements as 32-bit floating point, rounded where they are longer. */
    public FloatBuffer floats() {
        ByteBuffer bytes = data();
        if (type == ElementType.FLOAT32) {
            return bytes.asFloatBuffer();
        }
        FloatBuffer floats = FloatBuffer.allocate(bytes.remaining() / type.bytes());
        while (floats.hasRemaining()) {
            floats.put(next(bytes));
        }
        return floats.flip();
    }

    private float next(ByteBuffer bytes) {
        return switch (type) {
            case FLOAT64 -> (float) bytes.getDouble();
            case FLOAT32 -> bytes.getFloat();
            case FLOAT16 -> halfToFloat(bytes.getShort());
            case BFLOAT16 -> Float.intBitsToFloat(bytes.getShort() << 16);
            case INT64 -> bytes.getLong();
            case INT32 -> bytes.getInt();
            case INT16 -> bytes.getShort();
            case INT8 -> bytes.get();
            case UINT8, BOOLEAN -> bytes.get() & 0xff;
        };
    }

    private static float halfToFloat(short half) {
        int exponent = half >> 10 & 0x1f;
        int mantissa = half & 0x3ff;
        float magnitude;
        if (exponent == 0x1f) {
            magnitude = mantissa == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        } else if (exponent == 0) {
            magnitude = Math.scalb(mantissa, -24);
        } else {
            magnitude = Math.scalb(mantissa | 0x400, exponent - 25);
        }
        return half < 0 ? -magnitude : magnitude;
    }

    /**
     * Copies the elements, as 32-bit floating point, into an array of the same shape, whatever its
     * type and memory format and whether or not it takes part in learning.
     */
    public void copyTo(NDArray array) {
        Preconditions.checkArgument(
                array.getShape().equals(shape), "%s into %s", shape, array.getShape());
        try (NDArray values = view(array.getManager())) {
            MemoryFormat.copy(values, array);
        }
    }

    /**
     * Returns an array of the elements as 32-bit floating point, contiguous. On CPUs it may be the
     * memory of this tensor: it is for reading only, and for as long as this tensor is held.
     *
     * @param manager owns the array and gives the device
     */
    public NDArray view(NDManager manager) {
        return type == ElementType.FLOAT32 && data.isDirect()
                ? manager.create(data(), shape, DataType.FLOAT32)
                : manager.create(floats(), shape);
    }
}
