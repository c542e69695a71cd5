package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

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
    @DisabledIfSystemProperty(named = Kernels.PROPERTY, matches = "portable")
    void areThereOnLinux() throws IOException {
        assumeTrue(Files.readString(Path.of("/proc/cpuinfo")).contains(" avx2 "), "no AVX2 here");
        assertTrue(
                Kernels.status().toString().matches("fused \\(AVX(2|-512)\\)"),
                Kernels.status().toString());
    }

    @Test
    void serveRealNumbersOnTheProcessorOnly() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            boolean loaded = Kernels.status().loaded();
            NDArray floats = manager.zeros(new Shape(2));
            assertEquals(loaded, Kernels.serve(floats));
            assertEquals(loaded, Kernels.serve(floats.toType(DataType.FLOAT64, true)));
            assertEquals(false, Kernels.serve(floats.toType(DataType.INT32, true)));
        }
    }
}
