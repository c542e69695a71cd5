package dev.saccade.core.ops.script;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.Sets;

import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.NoGrad;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Saccade's library of fused operators, which scripts call as {@code ops.saccade}. */
public final class Kernels {

    private static final OperatorLibrary LIBRARY =
            new OperatorLibrary(Kernels.class, "saccade", Kernels::greeting);

    /** Data types of fused operators; UNKNOWN is bfloat16, which DJL lacks. */
    private static final Set<DataType> TYPES =
            Sets.immutableEnumSet(
                    DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT16, DataType.UNKNOWN);

    private static final Set<DataType> MODEL_TYPES =
            Sets.immutableEnumSet(DataType.FLOAT32, DataType.UNKNOWN);

    /** Name of a CPU scalar in scripts; libtorch caches results of operators without tensors. */
    public static final String TOKEN = "x";

    private static final Map<Integer, Boolean> GPUS = new ConcurrentHashMap<>();

    private Kernels() {}

    /** Initializes the library and returns the instruction set. */
    private static String greeting() {
        int bits = (int) number("instruction_set");
        if (bits == 0) {
            throw new IllegalStateException("the processor has no AVX2");
        }
        number("keep_memory");
        allowTf32(false);
        return switch (bits) {
            case 512 -> "AVX-512";
            case 256 -> "AVX2";
            default -> "NEON";
        };
    }

    /** Allows TF32 for float32 products on GPUs, for the whole process; off by default. */
    public static void allowTf32(boolean allowed) {
        numbers("allow_tf32", TOKEN, allowed);
    }

    /** Returns the number computed by an operator that takes no tensors. */
    public static float number(String operator, Object... arguments) {
        return Script.evaluate(Script.expression("ops.saccade." + operator, arguments));
    }

    /** Returns the results of an operator whose only tensor is {@link #TOKEN}. */
    public static double[] numbers(String operator, Object... arguments) {
        return Script.numbers(Script.expression("ops.saccade." + operator, arguments));
    }

    /** Returns whether fused operators are loaded, and the reason. */
    public static OperatorLibrary.Status status() {
        return LIBRARY.status();
    }

    /** Returns whether fused operators are enabled in this thread. */
    public static boolean areOn() {
        return LIBRARY.isOn();
    }

    /** Returns whether fused operators support an array. */
    public static boolean isFusedFor(NDArray array) {
        Device device = array.getDevice();
        return areOn()
                && TYPES.contains(array.getDataType())
                && (device.isGpu()
                        ? isFusedForGpu(device.getDeviceId())
                        : device.equals(Device.cpu()));
    }

    /** Returns whether fused operators that exist only for float32 on CPUs support an array. */
    public static boolean isFusedForFloat32OnCpu(NDArray array) {
        return array.getDataType() == DataType.FLOAT32
                && !array.getDevice().isGpu()
                && isFusedFor(array);
    }

    /**
     * Returns whether fused operators that exist only for inference on CPUs support an array: of
     * float32 or bfloat16, and not empty.
     */
    public static boolean isFusedForInferenceOnCpu(NDArray array) {
        return NoGrad.isActive() && isFusedForModelsOnCpu(array);
    }

    /** Like {@link #isFusedForInferenceOnCpu}, for operators with gradients. */
    public static boolean isFusedForModelsOnCpu(NDArray array) {
        return array.size() > 0
                && !array.getDevice().isGpu()
                && MODEL_TYPES.contains(array.getDataType())
                && isFusedFor(array);
    }

    /** Like {@link #isFusedForFloat32OnCpu}, for matrix products; false with 16-bit autocast. */
    public static boolean isFusedForFloat32ProductsOnCpu(NDArray array) {
        return isFusedForFloat32OnCpu(array)
                && Autocast.precision(array.getDevice()) == Precision.FLOAT32;
    }

    /** Returns whether the library and driver can compile fused operators for a GPU. */
    public static boolean isFusedForGpu(int gpu) {
        return status().loaded() && GPUS.computeIfAbsent(gpu, Kernels::compilesFor);
    }

    private static boolean compilesFor(int gpu) {
        return number("cuda_architecture", gpu) > 0;
    }
}
