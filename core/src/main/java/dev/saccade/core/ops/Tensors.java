package dev.saccade.core.ops;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * The way of numbers into arrays and back, and what else DJL's own ways get wrong.
 *
 * <p>What {@code NDManager.create} makes on a CPU lies in a Java buffer, which is freed when the
 * array is closed, even while a gradient or a view inside libtorch still reads it; its {@code
 * mul(Number)} and {@code div(Number)} make such arrays too. On a GPU it waits for all that the GPU
 * was told before. So whatever goes into a model or a loss, or may be closed before what was made
 * of it, comes from here: it owns its memory, and a GPU gets it in its turn, through pinned memory.
 *
 * <p>Reading waits, see {@link HostTransfers}.
 */
public final class Tensors {

    private static final ScriptTemplate TO_GPU =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    pinned = torch.pin_memory(x)
                    return torch.to(pinned, torch.device("cuda:{gpu}"), {type}, True, False)
                    """);

    /** The numbers of types in libtorch. */
    private static final Map<DataType, Integer> TYPES =
            Map.of(
                    DataType.UINT8, 0,
                    DataType.INT8, 1,
                    DataType.INT32, 3,
                    DataType.INT64, 4,
                    DataType.FLOAT16, 5,
                    DataType.FLOAT32, 6,
                    DataType.FLOAT64, 7,
                    DataType.BOOLEAN, 11);

    private Tensors() {}

    /** Returns a copy of values, row-major. */
    public static NDArray of(NDManager manager, float[] values, Shape shape) {
        return written(manager, on -> on.create(values, shape));
    }

    /** Returns a copy of values, row-major. */
    public static NDArray of(NDManager manager, int[] values, Shape shape) {
        return written(manager, on -> on.create(values, shape));
    }

    /** Returns a copy of values, row-major. */
    public static NDArray of(NDManager manager, long[] values, Shape shape) {
        return written(manager, on -> on.create(values, shape));
    }

    /**
     * Returns a copy of values, row-major.
     *
     * @param values in native order
     */
    public static NDArray of(NDManager manager, ByteBuffer values, Shape shape, DataType type) {
        return written(manager, on -> on.create(values, shape, type));
    }

    /** Returns a scalar, which nothing has to travel for. */
    public static NDArray of(NDManager manager, float value) {
        return manager.full(new Shape(), value);
    }

    /** Makes an array of Java's memory. */
    private interface Borrowing {
        NDArray on(NDManager cpu);
    }

    private static NDArray written(NDManager manager, Borrowing values) {
        HostTransfers.countWrite();
        Device device = manager.getDevice();
        if (!device.isGpu()) {
            try (NDArray borrowing = values.on(manager)) {
                return borrowing.duplicate();
            }
        }
        try (NDManager cpu = Libtorch.newManager(Device.cpu())) {
            NDArray borrowing = values.on(cpu);
            Map<String, Object> names =
                    Map.of(
                            "gpu", device.getDeviceId(),
                            "type", typeCode(borrowing.getDataType()));
            NDArray array = TO_GPU.with(names).run(borrowing);
            array.attach(manager);
            return array;
        }
    }

    /** Returns the number of a type in libtorch. */
    public static int typeCode(DataType type) {
        return TYPES.get(type);
    }

    /** Returns the values of an array of float32, row-major. */
    public static float[] readFloats(NDArray array) {
        HostTransfers.countRead();
        return array.toFloatArray();
    }

    /** Returns the values of an array of int32, row-major. */
    public static int[] readInts(NDArray array) {
        HostTransfers.countRead();
        return array.toIntArray();
    }

    /** Returns the values of an array of int64, row-major. */
    public static long[] readLongs(NDArray array) {
        HostTransfers.countRead();
        return array.toLongArray();
    }

    /** Returns the memory of an array, row-major; it is valid as long as the array is open. */
    public static ByteBuffer readBytes(NDArray array) {
        HostTransfers.countRead();
        return array.toByteBuffer(true);
    }

    /**
     * Joins arrays along an axis; DJL's own way takes an array that stands alone off the gradient.
     */
    public static NDArray concat(NDList parts, int axis) {
        return parts.size() == 1 ? parts.get(0) : NDArrays.concat(parts, axis);
    }

    /**
     * Returns {@code x} as float32, for example from {@link Autocast}'s 16 bits; {@code x} itself
     * if it is. DJL's {@code toType} stops the gradient.
     */
    public static NDArray toFloat32(NDArray x) {
        return Functional.to(x, DataType.FLOAT32);
    }
}
