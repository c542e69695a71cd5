package dev.saccade.core;

import ai.djl.util.ClassLoaderUtils;
import ai.djl.util.Platform;
import ai.djl.util.Utils;

import com.google.common.base.Throwables;
import com.google.common.collect.Iterables;
import com.sun.jna.NativeLibrary;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Source of libtorch, set by the environment variable or Java property {@value #VARIABLE}.
 *
 * <p>Sets DJL's properties once, before DJL loads its engine.
 *
 * @param value a folder with torch or libtorch, or {@value #DOWNLOAD}
 * @param settings DJL's properties by name
 */
record LibtorchSource(String value, Map<String, String> settings) {

    static final String VARIABLE = "SACCADE_TORCH";

    /** Value of {@link #VARIABLE} for which DJL downloads libtorch. */
    static final String DOWNLOAD = "download";

    /** DJL's environment variables, also read as Java properties. */
    private static final String FOLDER = "PYTORCH_LIBRARY_PATH";

    private static final String VERSION = "PYTORCH_VERSION";
    private static final String FLAVOR = "PYTORCH_FLAVOR";

    /** Flavor of DJL's library for CUDA 12.8, which works with every CUDA 12.x. */
    private static final String CUDA_FLAVOR = "cu128";

    private static final int CUDA_MAJOR = 12;

    /** Returns the source that the variable sets, if any; throws a user error if it is unusable. */
    static Optional<LibtorchSource> fromEnvironment(CudaDriver driver) {
        String value = Utils.getEnvOrSystemProperty(VARIABLE, "").strip();
        if (value.isEmpty()) {
            return Optional.empty();
        }
        String other = System.getenv(FOLDER);
        if (other != null) {
            throw SaccadeException.user(
                    "%s is set, but DJL's %s is also set, to %s; unset one of them",
                    VARIABLE, FOLDER, other);
        }
        return Optional.of(value.equals(DOWNLOAD) ? downloaded(driver) : installed(value, driver));
    }

    private static LibtorchSource downloaded(CudaDriver driver) {
        if (!driver.isUsable(CUDA_MAJOR)) {
            throw SaccadeException.user(
                    "%s=%s: no GPU or no driver for CUDA %d found (see nvidia-smi), so libtorch"
                            + " is not downloaded; unset %s to use the CPU",
                    VARIABLE, DOWNLOAD, CUDA_MAJOR, VARIABLE);
        }
        requireCudaOfDjl();
        return new LibtorchSource(
                DOWNLOAD,
                Map.of(VERSION, ours("0"), FLAVOR, CUDA_FLAVOR, "ai.djl.offline", "false"));
    }

    private static LibtorchSource installed(String value, CudaDriver driver) {
        Path folder = folder(value);
        if (driver.isUsable(CUDA_MAJOR)) {
            // DJL counts GPUs with the CUDA runtime that is installed next to Python's torch.
            Path runtime = folder.resolve("../../nvidia/cuda_runtime/lib").normalize();
            NativeLibrary.addSearchPath("cudart", runtime.toString());
        }
        LibtorchBuild build =
                LibtorchBuild.read(folder)
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "%s=%s: unknown libtorch version; expected"
                                                        + " version.py or build-version in %s",
                                                VARIABLE, value, folder.getParent()));
        String expected = version();
        if (!build.version().equals(expected)) {
            throw SaccadeException.user(
                    "%s=%s: libtorch %s, expected %s, which DJL requires; pip install torch==%s",
                    VARIABLE, value, build, expected, expected);
        }
        if (build.cudaMajor().filter(major -> major != CUDA_MAJOR).isPresent()) {
            throw SaccadeException.user(
                    "%s=%s: libtorch %s, expected one for CUDA %d; pip install torch==%s",
                    VARIABLE, value, build, CUDA_MAJOR, expected);
        }
        // DJL must not load libraries linked against a missing or outdated driver.
        boolean forCuda = build.cuda().isPresent() && driver.isUsable(CUDA_MAJOR);
        if (forCuda) {
            requireCudaOfDjl();
        }
        return new LibtorchSource(
                value,
                Map.of(
                        FOLDER, folder.toString(),
                        VERSION, ours("1"),
                        FLAVOR, forCuda ? CUDA_FLAVOR : "cpu"));
    }

    private static Path folder(String named) {
        Path given = Path.of(named);
        if (!Files.isDirectory(given)) {
            throw SaccadeException.user(
                    "%s=%s: folder not found; expected the folder of an installed torch, or %s",
                    VARIABLE, named, DOWNLOAD);
        }
        String library = System.mapLibraryName("torch");
        for (Path folder : Iterables.concat(List.of(given, given.resolve("lib")), inside(given))) {
            if (Files.isRegularFile(folder.resolve(library))) {
                return folder.toAbsolutePath().normalize();
            }
        }
        throw SaccadeException.user(
                "%s=%s: %s not found in this folder, lib or lib/python*/site-packages/torch/lib;"
                        + " expected a Python environment with torch, the output of python -c"
                        + " 'import torch; print(torch.__path__[0])', or %s",
                VARIABLE, named, library, DOWNLOAD);
    }

    /** Returns the possible folders of torch's libraries in a Python environment. */
    private static List<Path> inside(Path environment) {
        Path lib = environment.resolve("lib");
        if (!Files.isDirectory(lib)) {
            return List.of();
        }
        try (DirectoryStream<Path> pythons = Files.newDirectoryStream(lib, "python*")) {
            List<Path> folders = new ArrayList<>();
            pythons.forEach(python -> folders.add(python.resolve("site-packages/torch/lib")));
            return folders;
        } catch (IOException | DirectoryIteratorException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", lib, e.getMessage());
        }
    }

    private static String version() {
        return Platform.fromSystem("pytorch").getVersion();
    }

    /** Appends a build number to the version, for a separate entry in DJL's cache. */
    private static String ours(String build) {
        return version() + "-" + build;
    }

    private static void requireCudaOfDjl() {
        String platform = Platform.fromSystem("pytorch").getClassifier();
        String library =
                Text.format(
                        "jnilib/%s/%s/%s",
                        platform, CUDA_FLAVOR, System.mapLibraryName("djl_torch"));
        if (ClassLoaderUtils.getContextClassLoader().getResource(library) == null) {
            throw SaccadeException.user(
                    "%s: DJL has no CUDA library for %s; unset it to use the CPU",
                    VARIABLE, platform);
        }
    }

    /** Sets DJL's properties and returns the folder where DJL caches its native libraries. */
    Path configureDjl(Path cache, String classifier) {
        settings.forEach(System::setProperty);
        return cache.resolve(settings.get(VERSION) + "-" + settings.get(FLAVOR) + "-" + classifier);
    }

    /** Returns the user error to throw if DJL fails to load this libtorch. */
    SaccadeException failure(Throwable error) {
        String reason = Throwables.getRootCause(error).toString();
        String fault =
                value.equals(DOWNLOAD)
                        ? "DJL could not download libtorch: %s; set the folder of an installed"
                                + " torch instead"
                        : "libtorch cannot be loaded: %s; check that python3 -c 'import torch'"
                                + " works there";
        return SaccadeException.user(
                error, "%s=%s: %s", VARIABLE, value, fault.replace("%s", reason));
    }

    /** Throws a user error if DJL has loaded libtorch from a folder that was not selected. */
    void requireLoaded(Path folder) {
        String selectedFolder = settings.getOrDefault(FOLDER, folder.toString());
        if (!folder.toAbsolutePath().normalize().equals(Path.of(selectedFolder))) {
            throw SaccadeException.user(
                    "%s: DJL had already loaded libtorch from %s; load a Saccade model first, or"
                            + " set DJL's own %s, %s and %s",
                    VARIABLE, folder, FOLDER, VERSION, FLAVOR);
        }
    }
}
