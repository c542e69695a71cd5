package dev.saccade.checkpoint;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.util.Float16Utils;

import com.google.common.base.Preconditions;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.MemoryFormat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Objects;

/** A stored tensor of at most 1 GiB, contiguous and row-major; often still in a file. */
public final class Tensor {

    private final ElementType type;
    private final Shape shape;
    private final TensorBytes bytes;

    /**
     * Creates a tensor from little-endian bytes; shares the buffer. The shape of a scalar is {@code
     * ()}.
     */
    public Tensor(ElementType type, Shape shape, ByteBuffer data) {
        this(type, shape, new TensorBytes.InMemory(data.slice().asReadOnlyBuffer()));
    }

    public Tensor(ElementType type, Shape shape, TensorBytes bytes) {
        this.type = type;
        this.shape = shape;
        this.bytes = bytes;
        Preconditions.checkArgument(
                bytes.length() == elements(shape) * type.bytes(),
                "got %s bytes for %s of shape %s",
                bytes.length(),
                type,
                shape);
        Preconditions.checkArgument(
                bytes.length() <= CheckpointFile.MAX_RANGE,
                "%s of shape %s has more than 1 GiB",
                type,
                shape);
    }

    /** Copies an array. */
    public static Tensor of(NDArray array) {
        ElementType type = ElementType.of(array.getDataType());
        try (NDArray rows = Functional.contiguous(array);
                NDArray here = rows.toDevice(Device.cpu(), true)) {
            // DJL's copy would crash the process if the Java heap is full.
            ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(array.size() * type.bytes()));
            if (copy.hasRemaining()) {
                copy.put(here.toByteBuffer(true)).flip();
            }
            return new Tensor(type, array.getShape(), copy);
        }
    }

    /** Creates a float32 tensor from row-major values. */
    public static Tensor of(Shape shape, float... values) {
        ByteBuffer bytes =
                ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        return new Tensor(ElementType.FLOAT32, shape, bytes);
    }

    public ElementType type() {
        return type;
    }

    public Shape shape() {
        return shape;
    }

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

    /** Returns the size in bytes. */
    public long length() {
        return bytes.length();
    }

    /**
     * Returns the little-endian bytes; read-only.
     *
     * @throws SaccadeException of kind I/O, if the file cannot be read or has changed since it was
     *     opened
     */
    public ByteBuffer data() {
        return bytes.get().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the elements as float32. */
    public FloatBuffer floats() {
        ByteBuffer data = data();
        if (type == ElementType.FLOAT32) {
            return data.asFloatBuffer();
        }
        FloatBuffer floats = FloatBuffer.allocate(data.remaining() / type.bytes());
        while (floats.hasRemaining()) {
            floats.put(next(data));
        }
        return floats.flip();
    }

    private float next(ByteBuffer data) {
        return switch (type) {
            case FLOAT64 -> (float) data.getDouble();
            case FLOAT32 -> data.getFloat();
            case FLOAT16 -> Float16Utils.halfToFloat(data.getShort());
            case BFLOAT16 -> Float.intBitsToFloat(data.getShort() << 16);
            case INT64 -> data.getLong();
            case INT32 -> data.getInt();
            case INT16 -> data.getShort();
            case INT8 -> data.get();
            case UINT8, BOOLEAN -> data.get() & 0xff;
        };
    }

    /** Copies the elements into an array of any type or memory format and the same shape. */
    public void copyTo(NDArray array) {
        Preconditions.checkArgument(
                array.getShape().equals(shape),
                "cannot copy shape %s to %s",
                shape,
                array.getShape());
        try (NDArray values = array(array.getManager())) {
            MemoryFormat.copy(values, array);
        }
    }

    /** Rounds to {@link ElementType#FLOAT16} or {@link ElementType#BFLOAT16}, ties to even. */
    public Tensor rounded(ElementType half) {
        FloatBuffer floats = floats();
        ByteBuffer bytes =
                ByteBuffer.allocate(floats.remaining() * Short.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
        while (floats.hasRemaining()) {
            float value = floats.get();
            bytes.putShort(half == ElementType.FLOAT16 ? floatToHalf(value) : upperHalf(value));
        }
        return new Tensor(half, shape, bytes.flip());
    }

    private static short upperHalf(float value) {
        int bits = Float.floatToIntBits(value);
        int even = (bits >> 16) & 1;
        return (short) (Float.isNaN(value) ? bits >> 16 : (bits + 0x7fff + even) >> 16);
    }

    private static short floatToHalf(float value) {
        int sign = (Float.floatToIntBits(value) >>> 16) & 0x8000;
        if (Float.isNaN(value)) {
            return (short) (sign | 0x7e00);
        }
        float magnitude = Math.abs(value);
        if (magnitude >= 65520) {
            return (short) (sign | 0x7c00);
        }
        // Subnormal numbers have a fixed step.
        int exponent = Math.max(Math.getExponent(magnitude), -14);
        int steps = (int) Math.rint(Math.scalb((double) magnitude, 10 - exponent));
        return (short) (sign | (((exponent + 14) << 10) + steps));
    }

    /** Returns the elements at row-major {@code places} as a tensor of shape {@code other}. */
    public Tensor gather(Shape other, int[] places) {
        ByteBuffer from = data();
        ByteBuffer to = ByteBuffer.allocate(places.length * type.bytes());
        for (int i = 0; i < places.length; i++) {
            to.put(i * type.bytes(), from, places[i] * type.bytes(), type.bytes());
        }
        return new Tensor(type, other, to);
    }

    /** Returns a new contiguous float32 array on the device of the manager. */
    public NDArray array(NDManager manager) {
        boolean isInPlace = type == ElementType.FLOAT32 && manager.getDevice().equals(Device.cpu());
        if (!isInPlace || elements() == 0) {
            return manager.create(floats(), shape);
        }
        NDArray array = manager.create(shape, DataType.FLOAT32);
        bytes.copyTo(array.toByteBuffer(true));
        return array;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof Tensor tensor
                        && type == tensor.type
                        && shape.equals(tensor.shape)
                        && data().equals(tensor.data()));
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, shape);
    }

    @Override
    public String toString() {
        return type + " " + shape;
    }
}
