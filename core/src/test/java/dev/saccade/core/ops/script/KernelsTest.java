package dev.saccade.core.ops.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Splitter;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class KernelsTest {

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    @DisabledIfSystemProperty(named = OperatorLibrary.PROPERTY, matches = "portable")
    void areAvailableOnLinux() throws IOException {
        assumeTrue(Files.readString(Path.of("/proc/cpuinfo")).contains(" avx2 "), "no AVX2 here");
        assertTrue(
                Kernels.status().toString().matches("fused \\(AVX(2|-512)\\)"),
                Kernels.status().toString());
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "aarch64")
    @DisabledIfSystemProperty(named = OperatorLibrary.PROPERTY, matches = "portable")
    void areAvailableOnLinuxArm() {
        assertEquals("fused (NEON)", Kernels.status().toString());
    }

    @Test
    void areNotUsedForMissingGpus() {
        assertFalse(Kernels.isFusedForGpu(1 << 20));
    }

    @Test
    void supportOnlyFloatingPoint() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            boolean loaded = Kernels.status().loaded();
            NDArray floats = manager.zeros(new Shape(2));
            assertEquals(loaded, Kernels.isFusedFor(floats));
            assertEquals(loaded, Kernels.isFusedFor(floats.toType(DataType.FLOAT64, true)));
            assertEquals(false, Kernels.isFusedFor(floats.toType(DataType.INT32, true)));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void keepTheMemoryOfTensors() throws IOException {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        long pages = 8_000;
        int tensors = 20;
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray numbers = manager.ones(new Shape(pages * 1_024));
            numbers.add(numbers).close();
            long before = pagesTouched();
            for (int i = 0; i < tensors; i++) {
                numbers.add(numbers).close();
            }
            long touched = pagesTouched() - before;
            assertTrue(touched < tensors * pages / 2, touched + " pages");
        }
    }

    /** Returns the number of page faults of this process. */
    private static long pagesTouched() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String behindName = stat.substring(stat.lastIndexOf(')') + 2);
        return Long.parseLong(Splitter.on(' ').splitToList(behindName).get(7));
    }
}
