package dev.saccade.core;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Supplier;
import com.google.common.base.Suppliers;
import com.google.common.base.Throwables;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Available devices: the CPU, and GPUs supported by both driver and libtorch. Resolves device names
 * and explains why a device is not available.
 */
public final class Devices {

    /** Selects {@code cuda:0} if it can be used, otherwise the CPU. */
    public static final String AUTO = "auto";

    /** Valid device names, for messages. */
    public static final String EXPECTED = "auto, cpu, cuda or the index of a GPU, such as cuda:1";

    private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

    private static final Pattern NAME = Pattern.compile("auto|cpu|cuda(?::(\\d{1,3}))?");

    private static final Supplier<Devices> LOCAL =
            Suppliers.memoize(
                    () -> new Devices(Libtorch.build(), CudaDriver.local(), Devices::compute));

    private final LibtorchBuild libtorch;
    private final CudaDriver driver;
    private final Consumer<Device> trial;
    private final Supplier<Device> automatic = Suppliers.memoize(this::findAutomatic);

    /** Creates devices; {@code trial} runs a computation and throws if a device does not work. */
    Devices(LibtorchBuild libtorch, CudaDriver driver, Consumer<Device> trial) {
        this.libtorch = libtorch;
        this.driver = driver;
        this.trial = trial;
    }

    public static Devices local() {
        return LOCAL.get();
    }

    private static void compute(Device device) {
        try (NDManager manager = Libtorch.newManager(device);
                NDArray ones = manager.ones(new Shape(2));
                NDArray two = ones.sum()) {
            two.getFloat();
        }
    }

    /** Returns the device name, for a GPU followed by model, memory and compute capability. */
    public String describe(Device device) {
        return device.isGpu()
                ? name(device) + ", " + driver.gpus().get(device.getDeviceId())
                : name(device);
    }

    /** Returns why {@code cuda:0} cannot be used; empty if it can, or if libtorch is for CPUs. */
    Optional<String> whyNoGpu() {
        return libtorch.cuda().flatMap(built -> fault(Device.gpu()));
    }

    /** Returns whether a text is a valid device name, even if the device is not available. */
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** Returns the name of a device, such as {@code cuda:0}. */
    public static String name(Device device) {
        return device.isGpu() ? "cuda:" + device.getDeviceId() : device.getDeviceType();
    }

    /**
     * Returns the device with the given name: {@code cpu}, {@code cuda} (the first GPU), an indexed
     * GPU such as {@code cuda:1}, or {@link #AUTO}, which is resolved only once.
     *
     * @throws SaccadeException of kind user if the name is invalid or the device cannot be used
     */
    public Device choose(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches()) {
            throw SaccadeException.user("device: got %s, expected %s", name, EXPECTED);
        }
        if (name.equals(AUTO)) {
            return automatic.get();
        }
        String number = parts.group(1);
        return require(
                name.equals("cpu")
                        ? Device.cpu()
                        : Device.gpu(number == null ? 0 : Integer.parseInt(number)));
    }

    /**
     * Returns the device of a rank. {@code cuda}, and {@code auto} if there is any GPU, select the
     * GPU with the index of the local rank.
     *
     * @param localRank index of the rank on its machine, from 0
     * @throws SaccadeException of kind user if the machine has fewer GPUs than ranks, or if
     *     multiple ranks request the same GPU
     */
    public Device chooseForRank(String name, int localRank) {
        boolean automatic = name.equals(AUTO);
        if (automatic && missing().isPresent()) {
            return choose(name);
        }
        if (automatic || name.equals("cuda")) {
            return require(localRank);
        }
        if (localRank > 0 && name.startsWith("cuda:")) {
            throw SaccadeException.user(
                    "device: got %s for multiple ranks on one machine, expected cuda, which"
                            + " assigns one GPU to each rank",
                    name);
        }
        return choose(name);
    }

    private Device require(int localRank) {
        int gpus = driver.gpus().size();
        if (missing().isEmpty() && localRank >= gpus) {
            throw SaccadeException.user(
                    "rank %d of this machine needs cuda:%d, but the machine has %s; start at most"
                            + " one rank per GPU, or set device to cpu",
                    localRank, localRank, Count.of(gpus, "GPU"));
        }
        return require(Device.gpu(localRank));
    }

    private Device findAutomatic() {
        Device found = fault(Device.gpu()).isEmpty() ? Device.gpu() : Device.cpu();
        if (!found.isGpu()) {
            whyNoGpu().ifPresent(why -> LOG.warn("using the CPU: {}", why));
        }
        return found;
    }

    /** Returns the given device; throws a user error with the reason if it cannot be used. */
    public Device require(Device device) {
        fault(device)
                .ifPresent(
                        fault -> {
                            throw SaccadeException.user("%s: %s", name(device), fault);
                        });
        return device;
    }

    /** Returns why a device cannot be used and what to do; empty if it can. */
    public Optional<String> fault(Device device) {
        if (!device.isGpu()) {
            return Optional.empty();
        }
        Optional<String> missing = missing();
        if (missing.isPresent()) {
            return missing;
        }
        int last = driver.gpus().size() - 1;
        if (device.getDeviceId() > last) {
            String range = last == 0 ? "cuda:0" : "cuda:0 to cuda:" + last;
            return Optional.of("GPU not found, expected " + range);
        }
        try {
            trial.accept(device);
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(
                    Text.format(
                            "%s does not work with libtorch %s: %s; run nvidia-smi to see which"
                                    + " processes use its memory",
                            driver.gpus().get(device.getDeviceId()), libtorch, reason(e)));
        }
    }

    private static String reason(Throwable error) {
        return String.valueOf(Throwables.getRootCause(error).getMessage())
                .lines()
                .findFirst()
                .orElse("");
    }

    /** Returns why no GPU can be used and what to do; empty if driver and libtorch support one. */
    private Optional<String> missing() {
        if (libtorch.cuda().isEmpty()) {
            return Optional.of(
                    Text.format(
                            "libtorch %s is loaded; to use a GPU, pip install torch==%s and set"
                                    + " SACCADE_TORCH to its folder, see docs/gpu.md",
                            libtorch, libtorch.version()));
        }
        if (!driver.installed()) {
            return Optional.of(
                    "NVIDIA driver (libcuda.so.1) not found; install it, or start the container"
                            + " with --gpus all, and check that nvidia-smi lists the GPU");
        }
        if (driver.fault().isPresent()) {
            return Optional.of(
                    Text.format(
                            "the NVIDIA driver does not work: %s; restart the machine and check"
                                    + " that nvidia-smi lists the GPU",
                            driver.fault().get()));
        }
        int needed = libtorch.cudaMajor().orElseThrow();
        if (driver.isOlderThan(needed)) {
            return Optional.of(
                    Text.format(
                            "the NVIDIA driver is too old: %s, but libtorch is %s; install a driver"
                                    + " for CUDA %d or later",
                            driver, libtorch, needed));
        }
        return driver.gpus().isEmpty()
                ? Optional.of(
                        "the NVIDIA driver reports no GPU to this process; check"
                                + " CUDA_VISIBLE_DEVICES and nvidia-smi")
                : Optional.empty();
    }

    public LibtorchBuild libtorch() {
        return libtorch;
    }

    public CudaDriver driver() {
        return driver;
    }
}
