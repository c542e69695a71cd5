package dev.saccade.core.ops;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.Libtorch;
import dev.saccade.core.NativeLibrary;
import dev.saccade.core.SaccadeException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.URL;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The library of fused operators, which scripts call as {@code ops.saccade}.
 *
 * <p>It is loaded when it is first asked for. Where that fails, on other platforms and processors,
 * or with {@code -Dsaccade.kernels=portable}, operators are composed of those of libtorch.
 */
public final class Kernels {

    /** The property that turns fused operators off. */
    public static final String PROPERTY = "saccade.kernels";

    /** The property that lets linear layers predict in {@code bfloat16}. */
    public static final String PRECISION = "saccade.precision";

    private static final Logger LOG = LoggerFactory.getLogger(Kernels.class);

    private static final ThreadLocal<Boolean> PORTABLY = ThreadLocal.withInitial(() -> false);

    private static final Map<Integer, Boolean> GPUS = new ConcurrentHashMap<>();

    private Kernels() {}

    /**
     * What became of the library.
     *
     * @param loaded whether fused operators run
     * @param reason why, in a few words
     */
    public record Status(boolean loaded, String reason) {

        @Override
        public String toString() {
            return (loaded ? "fused" : "portable") + " (" + reason + ")";
        }
    }

    private static final class Library {

        static final Status STATUS = load();

        private static Status load() {
            if ("portable".equals(System.getProperty(PROPERTY))) {
                return new Status(false, "-D" + PROPERTY + "=portable");
            }
            String platform = platform();
            URL resource = Kernels.class.getResource("/native/" + platform + "/libsaccade.so");
            if (resource == null) {
                return new Status(false, "there is no library for " + platform);
            }
            try {
                return new Status(true, loadFrom(NativeLibrary.file(resource)));
            } catch (SaccadeException | UnsatisfiedLinkError | IllegalStateException e) {
                LOG.warn("fused operators are off: {}", e.getMessage());
                return new Status(false, "the library cannot be loaded: " + e.getMessage());
            }
        }

        private static String platform() {
            String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
            String arch = System.getProperty("os.arch");
            return (os.startsWith("linux") ? "linux" : os.replace(' ', '_'))
                    + "-"
                    + ("amd64".equals(arch) ? "x86_64" : arch);
        }

        private static String loadFrom(Path file) {
            // Its symbols are those of libtorch, which the engine loads.
            Libtorch.engine();
            try {
                System.load(file.toString());
            } catch (UnsatisfiedLinkError e) {
                // Another class loader may have loaded it, which is as good.
                if (!isThere()) {
                    throw e;
                }
            }
            String instructions = instructions();
            if (instructions.isEmpty()) {
                throw new IllegalStateException("the processor has no AVX2");
            }
            ask("ops.saccade.keep_memory()");
            return instructions;
        }

        private static boolean isThere() {
            try {
                return !instructions().isEmpty();
            } catch (SaccadeException e) {
                return false;
            }
        }

        /** Asks the library itself, which also shows that its operators are there. */
        private static String instructions() {
            int found = (int) ask("ops.saccade.instruction_set()");
            return found == 0 ? "" : found == 512 ? "AVX-512" : "AVX2";
        }
    }

    /** Returns whether fused operators run, and why. */
    public static Status status() {
        return Library.STATUS;
    }

    private static final class Bfloat16 {

        static final boolean SERVES = serves();

        private static boolean serves() {
            String asked = System.getProperty(PRECISION, "float32");
            if (asked.equals("float32")) {
                return false;
            }
            if (!asked.equals("bfloat16")) {
                LOG.warn(
                        "-D{}={}: got neither float32 nor bfloat16, float32 it is",
                        PRECISION,
                        asked);
                return false;
            }
            boolean supported =
                    status().loaded() && ask("int(ops.mkldnn._is_mkldnn_bf16_supported())") > 0;
            if (!supported) {
                LOG.warn("-D{}=bfloat16: the processor has none, float32 it is", PRECISION);
            }
            return supported;
        }
    }

    /**
     * Returns whether linear layers are to predict in bfloat16: if asked for, and if it is there.
     */
    public static boolean predictInBfloat16() {
        return Bfloat16.SERVES;
    }

    /** Runs something without fused operators in this thread, to hold the one against the other. */
    public static <T> T portably(Supplier<T> body) {
        boolean before = PORTABLY.get();
        PORTABLY.set(true);
        try {
            return body.get();
        } finally {
            PORTABLY.set(before);
        }
    }

    /**
     * What the processor can do at best with the threads of the engine, measured.
     *
     * @param operations additions and multiplications of floats a second
     * @param bytes read and written a second
     */
    public record Ceilings(double operations, double bytes) {}

    /** Measures the ceilings, which takes seconds; none where the library is not loaded. */
    public static Optional<Ceilings> ceilings() {
        if (!status().loaded()) {
            return Optional.empty();
        }
        Script script = Script.compile("(x: Tensor) -> Tensor", "return ops.saccade.ceilings()");
        try (NDArray none = Tensors.of(Libtorch.engine().newBaseManager(Device.cpu()), 0);
                NDArray measured = script.run(none)) {
            double[] values = measured.toDoubleArray();
            return Optional.of(new Ceilings(values[0], values[1]));
        }
    }

    /**
     * Returns whether fused operators run on a GPU: those of libraries and drivers that can compile
     * them, which happens when they are first used.
     */
    public static boolean serveGpu(int gpu) {
        return status().loaded() && GPUS.computeIfAbsent(gpu, Kernels::compilesFor);
    }

    private static boolean compilesFor(int gpu) {
        return ask("ops.saccade.cuda_architecture(" + gpu + ")") > 0;
    }

    /** Returns what an operator of the library says. */
    private static float ask(String call) {
        Script script =
                Script.compile("(x: Tensor) -> Tensor", "return torch.add(x, " + call + ")");
        try (NDArray zero = Tensors.of(Libtorch.engine().newBaseManager(Device.cpu()), 0);
                NDArray answer = script.run(zero)) {
            return answer.getFloat();
        }
    }

    /** Returns whether fused operators run in this thread. */
    static boolean serve() {
        return !PORTABLY.get() && status().loaded();
    }

    /** Returns whether an array may be given to a fused operator. */
    public static boolean serve(NDArray array) {
        Device device = array.getDevice();
        return serve()
                && (array.getDataType() == DataType.FLOAT32
                        || array.getDataType() == DataType.FLOAT64)
                && (device.isGpu() ? serveGpu(device.getDeviceId()) : device.equals(Device.cpu()));
    }
}
