package dev.saccade.core;

import com.google.common.base.Ascii;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The operating system and the processor that native libraries are made for. */
public final class NativePlatform {

    /** Those that DJL has libtorch for, which no library of this process tells. */
    static final List<String> WITH_LIBTORCH =
            List.of("linux-x86_64", "linux-aarch64", "osx-aarch64", "win-x86_64");

    /** The files that this process has in its memory, where the system tells them. */
    private static final Path LOADED = Path.of("/proc/self/maps");

    private NativePlatform() {}

    /**
     * Returns the name of the platform at hand, as in the classifiers of DJL's artifacts: {@code
     * linux-x86_64}, {@code linux-aarch64}, {@code osx-aarch64}, {@code win-x86_64}.
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

    /**
     * Sees to it that the C library at hand is one that native libraries are made for.
     *
     * @param library what is to be loaded
     * @throws SaccadeException of kind user on musl
     */
    public static void requireGlibc(String library) {
        if (hasMusl(LOADED)) {
            throw SaccadeException.user(
                    "%s requires glibc, but this Java runs on musl (as in Alpine); use a Java"
                            + " and an image with glibc, such as Debian or Ubuntu",
                    library);
        }
    }

    /** Returns whether the loader of musl is among the files in the memory of a process. */
    static boolean hasMusl(Path loaded) {
        try {
            return Files.isReadable(loaded)
                    && Files.readString(loaded, StandardCharsets.ISO_8859_1).contains("/ld-musl-");
        } catch (IOException e) {
            return false;
        }
    }
}
