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

/** Loads OpenCV's native library, once a process; everything that makes a first Mat asks for it. */
public final class OpenCv {

    /** Why it cannot be loaded; nothing if it is. */
    private static final Optional<SaccadeException> FAILURE = failure();

    private OpenCv() {}

    /**
     * Makes sure that the native library is there.
     *
     * @throws SaccadeException that says why it is not, each time
     */
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
                            "OpenCV cannot be loaded on %s: %s; the artifact is"
                                    + " org.openpnp:opencv, of which a shaded jar must keep the"
                                    + " folder nu/pattern/opencv",
                            NativePlatform.name(),
                            e.getMessage()));
        }
    }

    private static void loadLibrary() throws IOException {
        NativePlatform.requireGlibc("OpenCV");
        // Messages of its decoders are exceptions here.
        ProcessEnvironment.setIfAbsent("OPENCV_LOG_LEVEL", "SILENT");
        try {
            System.load(NativeLibrary.file(resource()).toString());
            leaveThreadsToCallers();
        } catch (UnsatisfiedLinkError e) {
            // A file serves one class loader, ours: where OpenCV's is another, or ours is not the
            // first with this file, OpenCV's jar itself extracts one more at every start.
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

    /** Returns the folder of the jar for a platform, or one that is not there. */
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

    /** The threads of a loader are the parallelism; OpenCV's own would only get in their way. */
    private static void leaveThreadsToCallers() {
        Core.setNumThreads(1);
    }
}
