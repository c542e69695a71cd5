package dev.saccade.core;

import ai.djl.engine.Engine;
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
import java.util.ArrayList;
import java.util.List;

/** libtorch, which DJL unpacks from its jars and loads when it is first asked for. */
public final class Libtorch {

    /** Tried again where it has failed. */
    private static final Supplier<Engine> ENGINE = Suppliers.memoize(Libtorch::load);

    private Libtorch() {}

    /**
     * Returns DJL's engine.
     *
     * @throws SaccadeException that says which artifact is missing, or what is wrong with the
     *     folder that DJL unpacks them into
     */
    public static Engine engine() {
        return ENGINE.get();
    }

    private static Engine load() {
        try {
            Platform platform = Platform.detectPlatform("pytorch");
            checkUnpacked(platform);
            return Engine.getEngine("PyTorch");
        } catch (SaccadeException e) {
            throw e;
        } catch (IOException | RuntimeException | LinkageError | AssertionError e) {
            throw SaccadeException.user(
                    e,
                    "libtorch cannot be loaded on %s: %s",
                    Platform.fromSystem("pytorch").getClassifier(),
                    reason(e));
        }
    }

    /** To load a library that is cut short kills the process. */
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
                        "%s: damaged, it is not the %d bytes that were unpacked; delete %s, and it"
                                + " is unpacked again",
                        file, size, folder);
            }
        }
    }

    private static Path cache() {
        return Utils.getEngineCacheDir("pytorch").toAbsolutePath();
    }

    private static String reason(Throwable error) {
        List<String> missing = missing();
        if (!missing.isEmpty()) {
            return "the class path lacks "
                    + String.join(" and ", missing)
                    + " (a shaded jar must keep what is in them, and merge META-INF/services)";
        }
        Path folder = cache();
        while (!Files.exists(folder)) {
            folder = folder.getParent();
        }
        if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
            return folder
                    + " cannot be written, where it is unpacked to; set DJL_CACHE_DIR to a folder"
                    + " that can";
        }
        return Throwables.getRootCause(error).getMessage()
                + "; if what is unpacked is damaged, delete "
                + cache();
    }

    private static List<String> missing() {
        List<String> missing = new ArrayList<>();
        if (isMissing("pytorch-engine.properties")) {
            missing.add("ai.djl.pytorch:pytorch-engine");
        } else if (Platform.detectPlatform("pytorch").isPlaceholder()) {
            missing.add(
                    "ai.djl.pytorch:pytorch-native-cpu with the classifier "
                            + Platform.fromSystem("pytorch").getClassifier());
        }
        if (isMissing("jnilib/pytorch.properties")) {
            missing.add("ai.djl.pytorch:pytorch-jni");
        }
        return missing;
    }

    private static boolean isMissing(String resource) {
        return ClassLoaderUtils.getContextClassLoader().getResource(resource) == null;
    }
}
