package dev.saccade.core.ops.script;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.Sets;

import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Saccade's own library of fused operators, which scripts call as {@code ops.saccade}. */
public final class Kernels {

    private static final OperatorLibrary LIBRARY =
            new OperatorLibrary(Kernels.class, "saccade", Kernels::greeting);

    /** Of numbers that fused operators take; bfloat16 is the one that DJL does not know. */
    private static final Set<DataType> TYPES =
            Sets.immutableEnumSet(
                    DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT16, DataType.UNKNOWN);

    /** An argument for a CPU scalar; libtorch runs an operator without tensors only once. */
    public static final String TOKEN = "x";

    private static final Map<Integer, Boolean> GPUS = new ConcurrentHashMap<>();

    private Kernels() {}

    /** Asks what the processor has, and has the library keep the memory of tensors from now on. */
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

    /**
     * Says whether GPUs may multiply numbers of float32 with ten bits of their fractions (TF32), in
     * the whole process from now on; they do not by default, whatever libtorch's is.
     */
    public static void allowTf32(boolean allowed) {
        numbers("allow_tf32", TOKEN, allowed);
    }

    /** Returns the number that an operator without tensors returns. */
    public static float number(String operator, Object... arguments) {
        return Script.evaluate(Script.expression("ops.saccade." + operator, arguments));
    }

    /** Returns the numbers of an operator that takes no tensor except {@link #TOKEN}. */
    public static double[] numbers(String operator, Object... arguments) {
        return Script.numbers(Script.expression("ops.saccade." + operator, arguments));
    }

    /** Returns whether fused operators run, and why. */
    public static OperatorLibrary.Status status() {
        return LIBRARY.status();
    }

    /** Returns whether fused operators run in this thread. */
    public static boolean areOn() {
        return LIBRARY.isOn();
    }

    /** Returns whether an array may be given to a fused operator. */
    public static boolean isFusedFor(NDArray array) {
        Device device = array.getDevice();
        return areOn()
                && TYPES.contains(array.getDataType())
                && (device.isGpu()
                        ? isFusedForGpu(device.getDeviceId())
                        : device.equals(Device.cpu()));
    }

    /** Returns whether an array may be given to what is there for float32 on CPUs alone. */
    public static boolean isFusedForFloat32OnCpu(NDArray array) {
        return array.getDataType() == DataType.FLOAT32
                && !array.getDevice().isGpu()
                && isFusedFor(array);
    }

    /**
     * Returns whether an array may be given to products that are there for float32 on CPUs alone.
     */
    public static boolean isFusedForFloat32ProductsOnCpu(NDArray array) {
        return isFusedForFloat32OnCpu(array)
                && Autocast.precision(array.getDevice()) == Precision.FLOAT32;
    }

    /**
     * Returns whether fused operators run on a GPU: those of libraries and drivers that can compile
     * them, which happens when they are first used.
     */
    public static boolean isFusedForGpu(int gpu) {
        return status().loaded() && GPUS.computeIfAbsent(gpu, Kernels::compilesFor);
    }

    private static boolean compilesFor(int gpu) {
        return number("cuda_architecture", gpu) > 0;
    }
}
