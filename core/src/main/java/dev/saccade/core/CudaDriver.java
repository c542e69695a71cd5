package dev.saccade.core;

import com.google.common.base.Supplier;
import com.google.common.base.Suppliers;
import com.google.common.collect.ImmutableList;
import com.sun.jna.NativeLibrary;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Information about NVIDIA's driver and its GPUs, read without libtorch.
 *
 * @param installed whether the driver library was found
 * @param fault why an installed driver does not work; empty if it works
 * @param version such as {@code 550.54.15}; known only on Linux
 * @param cuda highest supported CUDA version, such as {@code 12.4}, {@code none} or {@code unknown}
 * @param gpus visible GPUs, see {@code CUDA_VISIBLE_DEVICES}
 */
public record CudaDriver(
        boolean installed,
        Optional<String> fault,
        Optional<String> version,
        String cuda,
        List<Gpu> gpus) {

    /** A GPU: its name, total memory and compute capability, such as {@code 8.0}. */
    public record Gpu(String name, long bytes, String capability) {

        @Override
        public String toString() {
            return Text.format("%s, %d MiB, compute capability %s", name, bytes >> 20, capability);
        }
    }

    static final CudaDriver NONE =
            new CudaDriver(false, Optional.empty(), Optional.empty(), "none", List.of());

    private static final Path LINUX = Path.of("/proc/driver/nvidia/version");

    private static final Pattern LINUX_VERSION =
            Pattern.compile("\\s(\\d{3,}\\.\\d+(\\.\\d+)?)\\s");

    private static final int MAJOR_OF_CAPABILITY = 75;
    private static final int MINOR_OF_CAPABILITY = 76;
    private static final int NO_DEVICE = 100;
    private static final int MAX_NAME_LENGTH = 256;

    private static final Supplier<CudaDriver> LOCAL = Suppliers.memoize(CudaDriver::query);

    private static final class DriverError extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final int error;

        DriverError(int error, String message) {
            super(message);
            this.error = error;
        }
    }

    public static CudaDriver local() {
        return LOCAL.get();
    }

    private static NativeLibrary library() {
        boolean isWindows = System.getProperty("os.name").startsWith("Windows");
        return NativeLibrary.getInstance(isWindows ? "nvcuda" : "libcuda.so.1");
    }

    private static CudaDriver query() {
        NativeLibrary library;
        try {
            library = library();
        } catch (UnsatisfiedLinkError e) {
            return NONE;
        }
        Optional<String> version = linuxVersion();
        String cuda = "unknown";
        try {
            int number = number(library, "cuDriverGetVersion");
            cuda = number / 1000 + "." + number % 1000 / 10;
            call(library, "cuInit", 0);
            ImmutableList.Builder<Gpu> gpus = ImmutableList.builder();
            int count = number(library, "cuDeviceGetCount");
            for (int i = 0; i < count; i++) {
                gpus.add(gpu(library, number(library, "cuDeviceGet", i)));
            }
            return new CudaDriver(true, Optional.empty(), version, cuda, gpus.build());
        } catch (DriverError e) {
            Optional<String> fault =
                    Optional.of(e.getMessage()).filter(message -> e.error != NO_DEVICE);
            return new CudaDriver(true, fault, version, cuda, List.of());
        } catch (UnsatisfiedLinkError e) {
            return new CudaDriver(true, Optional.of(e.getMessage()), version, cuda, List.of());
        }
    }

    private static Gpu gpu(NativeLibrary library, int device) {
        byte[] name = new byte[MAX_NAME_LENGTH];
        call(library, "cuDeviceGetName", name, MAX_NAME_LENGTH, device);
        LongByReference bytes = new LongByReference();
        call(library, "cuDeviceTotalMem_v2", bytes, device);
        int major = number(library, "cuDeviceGetAttribute", MAJOR_OF_CAPABILITY, device);
        int minor = number(library, "cuDeviceGetAttribute", MINOR_OF_CAPABILITY, device);
        String text = new String(name, StandardCharsets.UTF_8).replaceFirst("(?s)\0.*", "");
        return new Gpu(text, bytes.getValue(), major + "." + minor);
    }

    /** Returns the free and total memory of a GPU; empty if it cannot be read. */
    Optional<DeviceMemory> memory(int gpu) {
        if (gpu >= gpus.size()) {
            return Optional.empty();
        }
        NativeLibrary library = library();
        try {
            int device = number(library, "cuDeviceGet", gpu);
            PointerByReference context = new PointerByReference();
            // libtorch uses the same context, so releasing it below does not destroy it.
            call(library, "cuDevicePrimaryCtxRetain", context, device);
            call(library, "cuCtxPushCurrent_v2", context.getValue());
            try {
                LongByReference free = new LongByReference();
                LongByReference total = new LongByReference();
                call(library, "cuMemGetInfo_v2", free, total);
                return Optional.of(new DeviceMemory(total.getValue(), free.getValue()));
            } finally {
                call(library, "cuCtxPopCurrent_v2", new PointerByReference());
                call(library, "cuDevicePrimaryCtxRelease_v2", device);
            }
        } catch (DriverError | UnsatisfiedLinkError e) {
            return Optional.empty();
        }
    }

    /** Returns the integer that a driver function writes to its first argument. */
    private static int number(NativeLibrary library, String function, Object... further) {
        IntByReference answer = new IntByReference();
        Object[] arguments = new Object[1 + further.length];
        arguments[0] = answer;
        System.arraycopy(further, 0, arguments, 1, further.length);
        call(library, function, arguments);
        return answer.getValue();
    }

    private static void call(NativeLibrary library, String function, Object... arguments) {
        int error = library.getFunction(function).invokeInt(arguments);
        if (error != 0) {
            PointerByReference name = new PointerByReference();
            int unknown =
                    library.getFunction("cuGetErrorName").invokeInt(new Object[] {error, name});
            throw new DriverError(
                    error,
                    Text.format(
                            "%s: %s",
                            function,
                            unknown == 0 ? name.getValue().getString(0) : "error " + error));
        }
    }

    private static Optional<String> linuxVersion() {
        try {
            Matcher version = LINUX_VERSION.matcher(Files.readString(LINUX));
            return version.find() ? Optional.of(version.group(1)) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns whether the driver is too old for a major version of CUDA. */
    boolean isOlderThan(int major) {
        return Integer.parseInt(cuda.replaceFirst("\\..*", "")) < major;
    }

    /** Returns whether there is a usable GPU for a major version of CUDA. */
    boolean isUsable(int major) {
        return installed && fault.isEmpty() && !isOlderThan(major) && !gpus.isEmpty();
    }

    @Override
    public String toString() {
        if (!installed) {
            return "none";
        }
        return version.map(number -> number + ", ").orElse("") + "for CUDA up to " + cuda;
    }
}
