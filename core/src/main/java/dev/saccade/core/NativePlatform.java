package dev.saccade.core;

import com.google.common.base.Ascii;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Operating system and processor architecture of native libraries. */
public final class NativePlatform {

    /** Platforms for which DJL has libtorch. */
    static final List<String> WITH_LIBTORCH =
            List.of("linux-x86_64", "linux-aarch64", "osx-aarch64", "win-x86_64");

    /** Files mapped into this process, on Linux. */
    private static final Path LOADED = Path.of("/proc/self/maps");

    private NativePlatform() {}

    /**
     * Returns the current platform as in the classifiers of DJL's artifacts, such as {@code
     * linux-x86_64}, {@code osx-aarch64} or {@code win-x86_64}.
     */
    public static String name() {
        return name(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    static String name(String system, String architecture) {
        String prefix =
                system.startsWith("Windows")
                        ? "win"
                        : system.startsWith("Mac")
                                ? "osx"
                                : Ascii.toLowerCase(system).replace(' ', '_');
        return prefix + "-" + ("amd64".equals(architecture) ? "x86_64" : architecture);
    }

    /** Throws a user error if this Java runs on musl instead of glibc. */
    public static void requireGlibc(String library) {
        if (hasMusl(LOADED)) {
            throw SaccadeException.user(
                    "%s requires glibc, but this Java runs on musl (as in Alpine); use a Java"
                            + " and an image with glibc, such as Debian or Ubuntu",
                    library);
        }
    }

    /** Returns whether musl's loader is in a list of mapped files. */
    static boolean hasMusl(Path loaded) {
        try {
            return Files.isReadable(loaded)
                    && Files.readString(loaded, StandardCharsets.ISO_8859_1).contains("/ld-musl-");
        } catch (IOException e) {
            return false;
        }
    }
}
