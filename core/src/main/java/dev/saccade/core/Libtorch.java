package dev.saccade.core;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.LibUtils;
import ai.djl.util.ClassLoaderUtils;
import ai.djl.util.Platform;
import ai.djl.util.Utils;

import com.google.common.base.Supplier;
import com.google.common.base.Suppliers;
import com.google.common.base.Throwables;

import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Loads libtorch on first use: DJL's, or the one selected by {@code SACCADE_TORCH}. */
public final class Libtorch {

    /** Loads libtorch once; retries after a failure. */
    private static final Supplier<Engine> ENGINE = Suppliers.memoize(Libtorch::load);

    private Libtorch() {}

    /** Returns DJL's engine; throws a user error with the reason if libtorch cannot be loaded. */
    public static Engine engine() {
        return ENGINE.get();
    }

    /** Returns a new manager for a device; the caller closes the manager. */
    public static NDManager newManager(Device device) {
        return engine().newBaseManager(device);
    }

    /** Returns the folder, version and CUDA version of the loaded libtorch. */
    public static LibtorchBuild build() {
        String version = engine().getVersion();
        Path folder = Path.of(LibUtils.getLibtorchPath());
        return LibtorchBuild.read(folder)
                .orElseGet(() -> new LibtorchBuild(folder, version, Optional.empty()));
    }

    private static Engine load() {
        NativePlatform.requireGlibc("libtorch");
        try {
            OpenMp.limitSpinning();
            Optional<LibtorchSource> named = LibtorchSource.fromEnvironment(CudaDriver.local());
            if (named.isPresent()) {
                return load(named.get());
            }
            checkUnpacked(Platform.detectPlatform("pytorch"));
            return Engine.getEngine("PyTorch");
        } catch (SaccadeException e) {
            throw e;
        } catch (IOException | RuntimeException | LinkageError | AssertionError e) {
            throw SaccadeException.user(
                    e, "libtorch cannot be loaded on %s: %s", NativePlatform.name(), reason(e));
        }
    }

    private static Engine load(LibtorchSource named) throws IOException {
        String classifier = Platform.fromSystem("pytorch").getClassifier();
        Path ofDjl = named.configureDjl(cache(), classifier);
        if (Files.isDirectory(ofDjl)) {
            NativeLibrary.requirePrivate(ofDjl);
        }
        try {
            Engine engine = Engine.getEngine("PyTorch");
            named.requireLoaded(Path.of(LibUtils.getLibtorchPath()));
            return engine;
        } catch (SaccadeException e) {
            throw e;
        } catch (RuntimeException | LinkageError | AssertionError e) {
            throw named.failure(e);
        }
    }

    /** Checks unpacked libraries, because loading a truncated one crashes the process. */
    private static void checkUnpacked(Platform platform) throws IOException {
        String classifier = platform.getClassifier();
        String flavor = platform.getFlavor();
        Path folder = cache().resolve(platform.getVersion() + "-" + flavor + "-" + classifier);
        if (platform.isPlaceholder() || !Files.isDirectory(folder)) {
            return;
        }
        NativeLibrary.requirePrivate(folder);
        for (String library : platform.getLibraries()) {
            Path file = folder.resolve(library);
            URL packed =
                    ClassLoaderUtils.getResource(
                            "pytorch/" + flavor + "/" + classifier + "/" + library);
            long size = packed == null ? -1 : packed.openConnection().getContentLengthLong();
            if (size >= 0 && (!Files.isRegularFile(file) || Files.size(file) != size)) {
                throw SaccadeException.user(
                        "%s: damaged, expected %d bytes; delete %s to unpack it again",
                        file, size, folder);
            }
        }
    }

    private static Path cache() {
        return Utils.getEngineCacheDir("pytorch").toAbsolutePath();
    }

    private static String reason(Throwable error) {
        Optional<String> fault = LibtorchArtifacts.fault(NativePlatform.name());
        if (fault.isPresent()) {
            return fault.get();
        }
        Path folder = cache();
        while (!Files.exists(folder)) {
            folder = folder.getParent();
        }
        if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
            return folder + " is not writable; set DJL_CACHE_DIR to a writable folder";
        }
        String message = Throwables.getRootCause(error).getMessage();
        return NativePlatform.name().startsWith("win-") && error instanceof LinkageError
                ? message + "; install the Visual C++ Redistributable 2015-2022 for x64"
                : message + "; if the unpacked files are damaged, delete " + cache();
    }
}
