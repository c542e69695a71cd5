package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Values of {@code SACCADE_TORCH} and their errors. */
class LibtorchSourceTest {

    private static final CudaDriver DRIVER =
            new CudaDriver(
                    true,
                    Optional.empty(),
                    Optional.empty(),
                    "12.4",
                    List.of(new CudaDriver.Gpu("NVIDIA A100", 1 << 30, "8.0")));

    private static final CudaDriver OLD =
            new CudaDriver(true, Optional.empty(), Optional.empty(), "11.8", DRIVER.gpus());

    @TempDir Path folder;

    @AfterEach
    void nameNothing() {
        System.clearProperty(LibtorchSource.VARIABLE);
    }

    /** Creates the folder of Python's torch with its version file. */
    private Path python(String version, String cuda) throws IOException {
        Path torch = Files.createDirectories(folder.resolve("lib/python3.11/site-packages/torch"));
        Files.writeString(
                torch.resolve("version.py"),
                String.format(
                        Locale.ROOT,
                        """
                from typing import Optional

                __all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
                __version__ = '%s'
                debug = False
                cuda: Optional[str] = %s
                git_version = 'e2d141dbde55c2a4370fac5165b0561b6af4798b'
                hip: Optional[str] = None
                """,
                        version,
                        cuda));
        return library(torch.resolve("lib")).getParent();
    }

    private static Path library(Path lib) throws IOException {
        Files.createDirectories(lib);
        Files.createFile(lib.resolve(System.mapLibraryName("torch")));
        return lib;
    }

    private static Optional<LibtorchSource> named(Object value, CudaDriver driver) {
        System.setProperty(LibtorchSource.VARIABLE, value.toString());
        return LibtorchSource.fromEnvironment(driver);
    }

    private static void assertRefused(String message, Object value, CudaDriver driver) {
        SaccadeException error = assertThrows(SaccadeException.class, () -> named(value, driver));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertEquals("SACCADE_TORCH=" + value + ": " + message, error.getMessage());
    }

    private static Map<String, String> settings(Object value, CudaDriver driver) {
        return named(value, driver).orElseThrow().settings();
    }

    @Test
    void isEmptyByDefault() {
        assertEquals(Optional.empty(), LibtorchSource.fromEnvironment(DRIVER));
        assertEquals(Optional.empty(), named(" ", DRIVER));
    }

    @Test
    @EnabledOnOs(architectures = "amd64") // DJL has no library for CUDA on others
    void usesPythonCudaBuildWithAGpu() throws IOException {
        Path torch = python("2.7.1+cu126", "'12.6'");
        String lib = torch.resolve("lib").toString();
        Map<String, String> settings =
                Map.of(
                        "PYTORCH_LIBRARY_PATH", lib,
                        "PYTORCH_VERSION", "2.7.1-1",
                        "PYTORCH_FLAVOR", "cu128");
        assertEquals(settings, settings(torch, DRIVER));
        assertEquals(settings, settings(torch.resolve("lib"), DRIVER));
        assertEquals("cpu", settings(torch, CudaDriver.NONE).get("PYTORCH_FLAVOR"));
        assertEquals("cpu", settings(torch, OLD).get("PYTORCH_FLAVOR"));
    }

    @Test
    void usesPythonCpuBuild() throws IOException {
        Path torch = python("2.7.1+cpu", "None");
        assertEquals("cpu", settings(torch, DRIVER).get("PYTORCH_FLAVOR"));
    }

    @Test
    void findsTorchInAPythonEnvironment() throws IOException {
        Path torch = python("2.7.1+cpu", "None");
        assertEquals(settings(torch, DRIVER), settings(folder, DRIVER));
    }

    @Test
    void rejectsOtherVersions() throws IOException {
        Path torch = python("2.11.0", "'13.0'");
        assertRefused(
                "libtorch 2.11.0 for CUDA 13.0, expected 2.7.1, which DJL requires; pip install"
                        + " torch==2.7.1",
                torch,
                DRIVER);
    }

    @Test
    void rejectsOtherCudaVersions() throws IOException {
        Path torch = python("2.7.1+cu118", "'11.8'");
        assertRefused(
                "libtorch 2.7.1 for CUDA 11.8, expected one for CUDA 12; pip install torch==2.7.1",
                torch,
                DRIVER);
    }

    @Test
    void rejectsFoldersWithoutLibtorch() throws IOException {
        assertRefused(
                "libtorch.so not found in this folder, lib or lib/python*/site-packages/torch/lib;"
                        + " expected a Python environment with torch, the output of python -c"
                        + " 'import torch; print(torch.__path__[0])', or download",
                folder,
                DRIVER);
        assertRefused(
                "folder not found; expected the folder of an installed torch, or download",
                folder.resolve("nowhere"),
                DRIVER);
        Path lib = library(folder.resolve("elsewhere").resolve("lib"));
        assertRefused(
                "unknown libtorch version; expected version.py or build-version in "
                        + lib.getParent(),
                lib,
                DRIVER);
    }

    @Test
    @EnabledOnOs(architectures = "amd64") // DJL has no library for CUDA on others
    void downloadsOnlyWithAUsableGpu() {
        for (CudaDriver none : List.of(CudaDriver.NONE, OLD)) {
            assertRefused(
                    "no GPU or no driver for CUDA 12 found (see nvidia-smi), so libtorch is not"
                            + " downloaded; unset SACCADE_TORCH to use the CPU",
                    "download",
                    none);
        }
        assertEquals(
                Map.of(
                        "PYTORCH_VERSION", "2.7.1-0",
                        "PYTORCH_FLAVOR", "cu128",
                        "ai.djl.offline", "false"),
                settings("download", DRIVER));
    }

    @Test
    @EnabledOnOs(architectures = "amd64") // DJL has no library for CUDA on others
    void failuresNameTheVariable() throws IOException {
        SaccadeException failed =
                named(python("2.7.1", "'12.6'"), DRIVER)
                        .orElseThrow()
                        .failure(
                                new IllegalStateException(new UnsatisfiedLinkError("no libcudnn")));
        assertTrue(
                failed.getMessage().contains("cannot be loaded: ")
                        && failed.getMessage().contains("no libcudnn; check that python3"),
                failed.getMessage());
        SaccadeException offline =
                named("download", DRIVER)
                        .orElseThrow()
                        .failure(new IllegalStateException("no route"));
        assertTrue(
                offline.getMessage()
                        .startsWith("SACCADE_TORCH=download: DJL could not download libtorch: "),
                offline.getMessage());
    }

    @Test
    @EnabledOnOs(architectures = "amd64") // DJL has no library for CUDA on others
    void rejectsADifferentLoadedLibtorch() throws IOException {
        Path torch = python("2.7.1", "'12.6'");
        LibtorchSource source = named(torch, DRIVER).orElseThrow();
        source.requireLoaded(torch.resolve("../torch/lib"));
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> source.requireLoaded(folder));
        assertTrue(error.getMessage().contains("already loaded libtorch"), error.getMessage());
    }

    private Optional<LibtorchBuild> build(String folderName, String version) throws IOException {
        Path lib = Files.createDirectories(folder.resolve(folderName));
        if (!version.isEmpty()) {
            Files.write(
                    lib.resolveSibling("build-version"), version.getBytes(StandardCharsets.UTF_8));
        }
        return LibtorchBuild.read(lib);
    }

    @Test
    void readsTheVersionOfAFolder() throws IOException {
        assertEquals(
                "2.7.1 for CUDA 12.8", build("a/lib", "2.7.1+cu128\n").orElseThrow().toString());
        assertEquals("2.7.1 for CPUs", build("b/lib", "2.7.1+cpu").orElseThrow().toString());
        assertEquals(
                "2.7.1 for CPUs", build("2.7.1-1-cpu-linux-x86_64", "").orElseThrow().toString());
        assertEquals(
                "2.7.1 for CUDA 12.8",
                build("2.7.1-20250812-cu128-linux-x86_64", "").orElseThrow().toString());
        assertEquals(Optional.empty(), build("lib", ""));
        assertEquals(
                Optional.of("12.6"),
                LibtorchBuild.read(python("2.7.1", "'12.6'").resolve("lib")).orElseThrow().cuda());
    }
}
