package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Device names on machines with and without GPUs. */
class DevicesTest {

    private static final LibtorchBuild FOR_CPUS =
            new LibtorchBuild(Path.of("lib"), "2.7.1", Optional.empty());

    private static final LibtorchBuild FOR_CUDA =
            new LibtorchBuild(Path.of("lib"), "2.7.1", Optional.of("12.6"));

    private static final CudaDriver.Gpu GPU = new CudaDriver.Gpu("NVIDIA A100", 40L << 30, "8.0");

    private static CudaDriver driver(String cuda, int gpus) {
        List<CudaDriver.Gpu> all = Collections.nCopies(gpus, GPU);
        return new CudaDriver(true, Optional.empty(), Optional.of("550.54.15"), cuda, all);
    }

    private static Devices devices(LibtorchBuild libtorch, CudaDriver driver) {
        return new Devices(libtorch, driver, device -> {});
    }

    /** Asserts that no GPU is available for the given reason and that {@code auto} is the CPU. */
    private static void assertNone(Devices devices, String why) {
        for (String name : List.of("cuda", "cuda:0")) {
            SaccadeException error =
                    assertThrows(SaccadeException.class, () -> devices.choose(name));
            assertEquals(SaccadeException.Kind.USER, error.kind());
            assertEquals("cuda:0: " + why, error.getMessage());
        }
        assertEquals(Optional.of(why), devices.fault(Device.gpu()));
        assertSame(Device.cpu(), devices.choose("auto"));
        assertSame(Device.cpu(), devices.choose("cpu"));
        boolean wasBrought = devices.libtorch().equals(FOR_CUDA);
        assertEquals(wasBrought ? Optional.of(why) : Optional.empty(), devices.whyNoGpu());
    }

    @Test
    void explainsMissingRequirements() {
        assertNone(
                devices(FOR_CPUS, driver("12.4", 1)),
                "libtorch 2.7.1 for CPUs is loaded; to use a GPU, pip install torch==2.7.1 and"
                        + " set SACCADE_TORCH to its folder, see docs/gpu.md");
        assertNone(
                devices(FOR_CUDA, CudaDriver.NONE),
                "NVIDIA driver (libcuda.so.1) not found; install it, or start the container with"
                        + " --gpus all, and check that nvidia-smi lists the GPU");
        CudaDriver broken =
                new CudaDriver(
                        true,
                        Optional.of("cuInit: CUDA_ERROR_UNKNOWN"),
                        Optional.empty(),
                        "12.4",
                        List.of());
        assertNone(
                devices(FOR_CUDA, broken),
                "the NVIDIA driver does not work: cuInit: CUDA_ERROR_UNKNOWN; restart the"
                        + " machine and check that nvidia-smi lists the GPU");
        assertNone(
                devices(FOR_CUDA, driver("11.4", 1)),
                "the NVIDIA driver is too old: 550.54.15, for CUDA up to 11.4, but libtorch is"
                        + " 2.7.1 for CUDA 12.6; install a driver for CUDA 12 or later");
        assertNone(
                devices(FOR_CUDA, driver("12.4", 0)),
                "the NVIDIA driver reports no GPU to this process; check CUDA_VISIBLE_DEVICES and"
                        + " nvidia-smi");
    }

    @Test
    void skipsGpusThatFailToCompute() {
        Devices devices =
                new Devices(
                        FOR_CUDA,
                        driver("12.4", 1),
                        device -> {
                            throw new IllegalStateException(
                                    "no kernel image is available\nCompile with ...");
                        });
        assertNone(
                devices,
                "NVIDIA A100, 40960 MiB, compute capability 8.0 does not work with libtorch"
                        + " 2.7.1 for CUDA 12.6: no kernel image is available; run nvidia-smi to"
                        + " see which processes use its memory");
    }

    @Test
    void choosesAGpuIfAvailable() {
        List<Device> tried = new ArrayList<>();
        // An older CUDA 12 driver runs libraries of a newer one.
        Devices devices = new Devices(FOR_CUDA, driver("12.2", 2), tried::add);
        assertSame(Device.gpu(0), devices.choose("auto"));
        assertSame(Device.gpu(0), devices.choose("auto"));
        assertEquals(List.of(Device.gpu(0)), tried, "tried once");
        assertSame(Device.gpu(0), devices.choose("cuda"));
        assertSame(Device.gpu(1), devices.choose("cuda:1"));
        assertSame(Device.cpu(), devices.choose("cpu"));
        assertSame(Device.gpu(1), devices.require(Device.gpu(1)));
        assertEquals(Optional.empty(), devices.fault(Device.gpu(1)));
        assertEquals(
                "cuda:1, NVIDIA A100, 40960 MiB, compute capability 8.0",
                devices.describe(Device.gpu(1)));
        assertEquals("cpu", devices.describe(Device.cpu()));
        assertEquals(Optional.empty(), devices.whyNoGpu());
    }

    @Test
    void rejectsUnknownGpus() {
        Devices two = devices(FOR_CUDA, driver("13.0", 2));
        SaccadeException error = assertThrows(SaccadeException.class, () -> two.choose("cuda:2"));
        assertEquals("cuda:2: GPU not found, expected cuda:0 to cuda:1", error.getMessage());
        Devices one = devices(FOR_CUDA, driver("13.0", 1));
        error = assertThrows(SaccadeException.class, () -> one.require(Device.gpu(7)));
        assertEquals("cuda:7: GPU not found, expected cuda:0", error.getMessage());
    }

    @Test
    void assignsOneGpuPerLocalRank() {
        List<Device> tried = new ArrayList<>();
        Devices two = new Devices(FOR_CUDA, driver("12.4", 2), tried::add);
        assertSame(Device.gpu(1), two.chooseForRank("auto", 1));
        assertSame(Device.gpu(1), two.chooseForRank("cuda", 1));
        assertEquals(List.of(Device.gpu(1), Device.gpu(1)), tried, "memory of no GPU but its own");
        assertSame(Device.gpu(0), two.chooseForRank("cuda", 0));
        assertSame(Device.gpu(1), two.chooseForRank("cuda:1", 0));
        assertSame(Device.cpu(), two.chooseForRank("cpu", 1));
        for (String name : List.of("auto", "cuda")) {
            SaccadeException few =
                    assertThrows(SaccadeException.class, () -> two.chooseForRank(name, 2));
            assertEquals(
                    "rank 2 of this machine needs cuda:2, but the machine has 2 GPUs; start at most"
                            + " one rank per GPU, or set device to cpu",
                    few.getMessage());
        }
        SaccadeException one =
                assertThrows(SaccadeException.class, () -> two.chooseForRank("cuda:1", 1));
        assertEquals(
                "device: got cuda:1 for multiple ranks on one machine, expected cuda, which"
                        + " assigns one GPU to each rank",
                one.getMessage());
    }

    @Test
    void assignsTheCpuWithoutGpus() {
        Devices devices = devices(FOR_CPUS, driver("12.4", 2));
        assertSame(Device.cpu(), devices.chooseForRank("auto", 3));
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> devices.chooseForRank("cuda", 3));
        assertTrue(error.getMessage().startsWith("cuda:3: libtorch 2.7.1"), error.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "gpu", "cuda:", "cuda:-1", "cuda:1000", "CUDA", "cuda:0,1", "cpu:0"})
    void rejectsInvalidNames(String text) {
        assertFalse(Devices.isName(text));
        Devices devices = devices(FOR_CUDA, driver("12.4", 1));
        SaccadeException error = assertThrows(SaccadeException.class, () -> devices.choose(text));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertTrue(error.getMessage().endsWith("expected " + Devices.EXPECTED), error.getMessage());
    }

    @Test
    void findsTheCpuOfThisMachine() {
        assertSame(Device.cpu(), Devices.local().choose("cpu"));
        Device auto = Devices.local().choose("auto");
        assertEquals(auto, Devices.local().require(auto));
    }
}
