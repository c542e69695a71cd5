package dev.saccade.core;

import ai.djl.engine.Engine;
import ai.djl.util.ClassLoaderUtils;
import ai.djl.util.Platform;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;

/** Finds the Maven artifacts of libtorch on the class path. */
final class LibtorchArtifacts {

    private static final String GROUP = "ai.djl.pytorch:";
    private static final String NATIVE = "native/lib/pytorch.properties";
    private static final String JNI = "jnilib/pytorch.properties";

    private LibtorchArtifacts() {}

    /** Returns the platforms of libtorch artifacts on the class path. */
    static List<String> platforms() {
        ClassLoader loader = ClassLoaderUtils.getContextClassLoader();
        List<String> platforms = new ArrayList<>();
        try {
            for (URL file : Collections.list(loader.getResources(NATIVE))) {
                Properties properties = new Properties();
                try (InputStream content = file.openStream()) {
                    properties.load(content);
                }
                platforms.add(properties.getProperty("classifier"));
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "the class path cannot be read: %s", e.getMessage());
        }
        return platforms.stream().filter(Objects::nonNull).distinct().sorted().toList();
    }

    /** Returns a message if the platform is unsupported or artifacts are missing; else empty. */
    static Optional<String> fault(String platform) {
        if (!NativePlatform.WITH_LIBTORCH.contains(platform)) {
            return Optional.of(
                    "DJL supports only " + String.join(", ", NativePlatform.WITH_LIBTORCH));
        }
        Platform djl = Platform.fromSystem("pytorch");
        if (djl.getVersion() == null) {
            return Optional.of(missing(GROUP + "pytorch-engine:" + Engine.getDjlVersion()));
        }
        String version = djl.getVersion();
        List<String> missing = new ArrayList<>();
        List<String> there = platforms();
        if (!there.contains(platform)) {
            missing.add(
                    GROUP
                            + Text.format("pytorch-native-cpu:%s:%s", version, platform)
                            + (there.isEmpty() ? "" : ", found " + String.join(", ", there)));
        }
        if (ClassLoaderUtils.getContextClassLoader().getResource(JNI) == null) {
            missing.add(GROUP + Text.format("pytorch-jni:%s-%s", version, djl.getApiVersion()));
        }
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of(missing(String.join(" and ", missing)));
    }

    private static String missing(String artifacts) {
        return "the class path lacks "
                + artifacts
                + " (a shaded jar must keep all of its files and merge META-INF/services)";
    }
}
