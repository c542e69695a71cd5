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
 * Creates and reads arrays safely.
 *
 * <p>An array of {@code NDManager.create} on a CPU uses a Java buffer that is freed when the array
 * is closed, even if a gradient or view still reads the buffer; {@code mul(Number)} and {@code
 * div(Number)} create such arrays, too. On a GPU, creating such an array waits for all pending GPU
 * work. Arrays created here own their memory and are copied to a GPU asynchronously through pinned
 * memory, so use them in models and losses.
 *
 * <p>Reading waits for the GPU; see {@link HostTransfers}.
 */
public final class Tensors {

    private static final ScriptTemplate TO_GPU =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    pinned = torch.pin_memory(x)
                    return torch.to(pinned, torch.device("cuda:{gpu}"), {type}, True, False)
                    """);

    /** libtorch's codes of data types. */
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

    /** Creates an array with a copy of row-major values. */
    public static NDArray of(NDManager manager, float[] values, Shape shape) {
        return written(manager, on -> on.create(values, shape));
    }

    /** Creates an array with a copy of row-major values. */
    public static NDArray of(NDManager manager, int[] values, Shape shape) {
        return written(manager, on -> on.create(values, shape));
    }

    /** Creates an array with a copy of row-major values. */
    public static NDArray of(NDManager manager, long[] values, Shape shape) {
        return written(manager, on -> on.create(values, shape));
    }

    /** Creates an array with a copy of row-major values in native byte order. */
    public static NDArray of(NDManager manager, ByteBuffer values, Shape shape, DataType type) {
        return written(manager, on -> on.create(values, shape, type));
    }

    /** Creates a scalar without a transfer to the device. */
    public static NDArray of(NDManager manager, float value) {
        return manager.full(new Shape(), value);
    }

    /** Creates an array in Java memory. */
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

    /** Returns libtorch's code of a data type. */
    public static int typeCode(DataType type) {
        return TYPES.get(type);
    }

    /** Returns the row-major values of a float32 array. */
    public static float[] readFloats(NDArray array) {
        HostTransfers.countRead();
        return array.toFloatArray();
    }

    /** Returns the row-major values of an int32 array. */
    public static int[] readInts(NDArray array) {
        HostTransfers.countRead();
        return array.toIntArray();
    }

    /** Returns the row-major values of an int64 array. */
    public static long[] readLongs(NDArray array) {
        HostTransfers.countRead();
        return array.toLongArray();
    }

    /** Returns the memory of an array, row-major; valid while the array is open. */
    public static ByteBuffer readBytes(NDArray array) {
        HostTransfers.countRead();
        return array.toByteBuffer(true);
    }

    /** Concatenates arrays; unlike DJL's method, keeps the gradient of a single array. */
    public static NDArray concat(NDList parts, int axis) {
        return parts.size() == 1 ? parts.get(0) : NDArrays.concat(parts, axis);
    }

    /** Converts {@code x} to float32. Unlike DJL's {@code toType}, keeps the gradient. */
    public static NDArray toFloat32(NDArray x) {
        return Functional.to(x, DataType.FLOAT32);
    }
}
