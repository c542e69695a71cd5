package dev.saccade.datasets.image;

import dev.saccade.core.NativeLibrary;
import dev.saccade.core.NativePlatform;
import dev.saccade.core.ProcessEnvironment;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import nu.pattern.OpenCV;

import org.opencv.core.Core;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URL;
import java.util.Optional;

/** Loads OpenCV's native library once per process. Call before creating the first Mat. */
public final class OpenCv {

    private static final Optional<SaccadeException> FAILURE = failure();

    private OpenCv() {}

    /** Ensures that the native library is loaded; throws on each call if it cannot be loaded. */
    public static void load() {
        FAILURE.ifPresent(
                failure -> {
                    throw failure;
                });
    }

    private static Optional<SaccadeException> failure() {
        try {
            loadLibrary();
            return Optional.empty();
        } catch (SaccadeException e) {
            return Optional.of(e);
        } catch (IOException | LinkageError e) {
            return Optional.of(
                    SaccadeException.user(
                            e,
                            "OpenCV cannot be loaded on %s: %s; add org.openpnp:opencv, and keep"
                                    + " the folder nu/pattern/opencv in shaded jars",
                            NativePlatform.name(),
                            e.getMessage()));
        }
    }

    private static void loadLibrary() throws IOException {
        NativePlatform.requireGlibc("OpenCV");
        // Errors of OpenCV's decoders are thrown as exceptions instead.
        ProcessEnvironment.setIfAbsent("OPENCV_LOG_LEVEL", "SILENT");
        try {
            System.load(NativeLibrary.file(resource()).toString());
            leaveThreadsToCallers();
        } catch (UnsatisfiedLinkError e) {
            // Only one class loader can load a library file. If OpenCV's class loader differs from
            // Saccade's, or has loaded the file already, OpenCV extracts a copy at each start.
            OpenCV.loadLocally();
            leaveThreadsToCallers();
        }
    }

    private static URL resource() throws IOException {
        String name = System.mapLibraryName(Core.NATIVE_LIBRARY_NAME);
        String path = Text.format("/nu/pattern/opencv/%s/%s", folder(NativePlatform.name()), name);
        URL resource = Core.class.getResource(path);
        if (resource == null) {
            throw new FileNotFoundException("its jar has no " + path);
        }
        return resource;
    }

    private static String folder(String platform) {
        return switch (platform) {
            case "linux-x86_64" -> "linux/x86_64";
            case "linux-aarch64" -> "linux/ARMv8";
            case "osx-x86_64" -> "osx/x86_64";
            case "osx-aarch64" -> "osx/ARMv8";
            case "win-x86_64" -> "windows/x86_64";
            default -> platform;
        };
    }

    /** The data loader's threads run in parallel; OpenCV's own threads would compete with them. */
    private static void leaveThreadsToCallers() {
        Core.setNumThreads(1);
    }
}
