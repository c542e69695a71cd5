package dev.saccade.cli;

import ai.djl.engine.Engine;
import ai.djl.pytorch.jni.LibUtils;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Version;
import dev.saccade.core.ops.Kernels;
import dev.saccade.datasets.image.OpenCv;

import org.opencv.core.Core;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.Callable;

/** Says which versions of everything are in use; the first thing to send with a question. */
@Command(
        name = "env",
        description = "Print the versions of everything Saccade runs on.",
        mixinStandardHelpOptions = true,
        footer = {"", "Example:  saccade env --json"})
final class EnvCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private JsonOption json;

    @Override
    public Integer call() {
        Map<String, Object> facts = facts();
        if (json.wanted()) {
            json.print(spec, facts);
        } else {
            facts.forEach(
                    (name, value) -> spec.commandLine().getOut().printf("%-12s %s%n", name, value));
        }
        return 0;
    }

    /** Returns the facts by name, in the order in which they are shown. */
    static Map<String, Object> facts() {
        Engine engine = Libtorch.engine();
        return ImmutableMap.<String, Object>builder()
                .put("saccade", Version.saccade())
                .put("java", Runtime.version() + " (" + System.getProperty("java.vendor") + ")")
                .put("djl", Engine.getDjlVersion())
                .put("libtorch", LibUtils.getVersion())
                .put("kernels", Kernels.status().toString())
                .put("gpus", engine.getGpuCount())
                .put("gpu_kernels", gpuKernels(engine.getGpuCount()))
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

    private static String gpuKernels(int gpus) {
        if (gpus == 0) {
            return "none";
        }
        return Kernels.isFusedForGpu(0) ? "compiled at first use" : "portable";
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
        throw SaccadeException.internal(null, "this JVM does not tell the memory of the machine");
    }
}
