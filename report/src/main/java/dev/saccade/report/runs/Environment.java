package dev.saccade.report.runs;

import ai.djl.Device;
import ai.djl.engine.Engine;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Devices;
import dev.saccade.core.LibtorchBuild;
import dev.saccade.core.NativePlatform;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Version;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.report.FactList.Fact;

import org.opencv.core.Core;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Versions of Saccade and its libraries, and properties of the machine. */
public final class Environment {

    private Environment() {}

    /** Formats a value of {@link #facts}; joins the elements of a list with {@code separator}. */
    public static String text(Object value, String separator) {
        return value instanceof List<?> lines
                ? lines.isEmpty() ? "none" : Joiner.on(separator).join(lines)
                : value.toString();
    }

    /** Returns versions, devices and memory by name: strings, numbers and lists of strings. */
    public static Map<String, Object> facts() {
        Devices devices = Devices.local();
        LibtorchBuild libtorch = devices.libtorch();
        Device auto = devices.choose(Devices.AUTO);
        return ImmutableMap.<String, Object>builder()
                .put("saccade", Version.saccade())
                .put("platform", NativePlatform.name())
                .put("java", Runtime.version() + " (" + System.getProperty("java.vendor") + ")")
                .put("djl", Engine.getDjlVersion())
                .put("libtorch", libtorch.version() + ", in " + libtorch.folder())
                .put("cuda", libtorch.cuda().orElse("none (libtorch for CPUs)"))
                .put("driver", devices.driver().toString())
                .put("gpus", gpus(devices))
                .put("kernels", "cpu: " + Kernels.status())
                .put("device", "auto is " + Devices.name(auto))
                .put("missing", missing(devices))
                .put("quantized", quantized())
                .put("opencv", opencv())
                .put(
                        "os",
                        System.getProperty("os.name")
                                + " "
                                + System.getProperty("os.version")
                                + " "
                                + System.getProperty("os.arch"))
                .put("processors", Runtime.getRuntime().availableProcessors())
                .put("memory", physicalMemory() / (1 << 20) + " MiB")
                .put("heap", Runtime.getRuntime().maxMemory() / (1 << 20) + " MiB")
                .buildOrThrow();
    }

    static List<Fact> lines() {
        return facts().entrySet().stream()
                .map(fact -> new Fact(fact.getKey(), text(fact.getValue(), "; ")))
                .toList();
    }

    private static List<String> gpus(Devices devices) {
        return IntStream.range(0, devices.driver().gpus().size())
                .mapToObj(Device::gpu)
                .map(gpu -> devices.describe(gpu) + ", operators: " + operators(devices, gpu))
                .toList();
    }

    private static String operators(Devices devices, Device gpu) {
        if (devices.fault(gpu).isPresent()) {
            return "none";
        }
        return Kernels.isFusedForGpu(gpu.getDeviceId())
                ? "fused (compiled at first use)"
                : "portable";
    }

    /** A machine without an NVIDIA driver is usually meant to run on the CPU. */
    private static String missing(Devices devices) {
        String start = devices.driver().installed() ? "" : "nothing for CPUs; for GPUs: ";
        return devices.fault(Device.gpu()).map(fault -> start + fault).orElse("nothing");
    }

    private static String quantized() {
        if (Quantization.isFast()) {
            return "models are fast on this CPU (AVX-512 VNNI and AVX-512 BF16)";
        }
        return Kernels.status().loaded()
                ? "models are not faster on this CPU: no AVX-512 VNNI or no AVX-512 BF16"
                : "models are not faster: fused operators are off";
    }

    private static String opencv() {
        OpenCv.load();
        return Core.VERSION;
    }

    private static long physicalMemory() {
        if (ManagementFactory.getOperatingSystemMXBean()
                instanceof com.sun.management.OperatingSystemMXBean system) {
            return system.getTotalMemorySize();
        }
        throw SaccadeException.internal(null, "this JVM does not report the physical memory");
    }
}
