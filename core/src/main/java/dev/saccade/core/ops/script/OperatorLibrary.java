package dev.saccade.core.ops.script;

import com.google.common.base.Suppliers;
import com.google.common.io.Files;
import com.google.common.io.Resources;

import dev.saccade.core.Libtorch;
import dev.saccade.core.NativeLibrary;
import dev.saccade.core.NativePlatform;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ThreadLocals;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A native library with libtorch operators ({@code TORCH_LIBRARY}), which scripts call as {@code
 * ops.NAMESPACE.OPERATOR}.
 *
 * <p>Loaded on first use from the class path, {@code /native/PLATFORM/libNAME.so} (see {@link
 * NativePlatform#name}). The optional file {@code libNAME.libtorch} next to it has the version of
 * libtorch that the library was built for; the library is not loaded with other versions, which
 * could compute wrong gradients. If loading fails, on other platforms, or with {@code
 * -Dsaccade.kernels=portable}, callers must fall back to libtorch's operators.
 */
public final class OperatorLibrary {

    /** System property; {@code portable} disables the operators of all libraries. */
    public static final String PROPERTY = "saccade.kernels";

    private static final Logger LOG = LoggerFactory.getLogger(OperatorLibrary.class);

    private static final ThreadLocal<Boolean> FORCE_PORTABLE = ThreadLocal.withInitial(() -> false);

    private final Supplier<Status> status;

    /** Whether the operators of a library are available, and a short reason. */
    public record Status(boolean loaded, String reason) {

        @Override
        public String toString() {
            return (loaded ? "fused" : "portable") + " (" + reason + ")";
        }
    }

    /**
     * Creates a library that is loaded on first use by the class loader of a class.
     *
     * @param greeting calls an operator of the library and returns a short description; throws an
     *     {@link IllegalStateException} if the library does not support this machine
     */
    public OperatorLibrary(Class<?> owner, String name, Supplier<String> greeting) {
        status = Suppliers.memoize(() -> load(owner, name, greeting));
    }

    private static Status load(Class<?> owner, String name, Supplier<String> greeting) {
        if ("portable".equals(System.getProperty(PROPERTY))) {
            return new Status(false, "-D" + PROPERTY + "=portable");
        }
        String platform = NativePlatform.name();
        String folder = "native/" + platform + "/";
        String file = System.mapLibraryName(name);
        // Not owner.getResource: the library may be in another Java module.
        ClassLoader loader = owner.getClassLoader();
        URL resource = loader.getResource(folder + file);
        if (resource == null) {
            return new Status(false, "no library for " + platform);
        }
        try {
            requireLibtorch(
                    file,
                    loader.getResource(folder + Files.getNameWithoutExtension(file) + ".libtorch"));
            return new Status(true, load(resource, greeting));
        } catch (SaccadeException | UnsatisfiedLinkError | IllegalStateException e) {
            LOG.warn("fused operators are off: {}", e.getMessage());
            return new Status(false, "the library cannot be loaded: " + e.getMessage());
        }
    }

    private static void requireLibtorch(String library, URL versionFile) {
        if (versionFile == null) {
            return;
        }
        String expected;
        try {
            expected = Resources.toString(versionFile, StandardCharsets.US_ASCII).strip();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", versionFile, e.getMessage());
        }
        String loaded = Libtorch.build().version();
        if (!loaded.equals(expected)) {
            throw SaccadeException.user(
                    "%s: built for libtorch %s, but libtorch %s is loaded; build the library for"
                            + " libtorch %s, or use libtorch %s",
                    library, expected, loaded, loaded, expected);
        }
    }

    private static String load(URL resource, Supplier<String> greeting) {
        // The library uses symbols of libtorch, which the engine loads.
        Libtorch.engine();
        try {
            System.load(NativeLibrary.file(resource).toString());
        } catch (UnsatisfiedLinkError e) {
            // Another class loader may have loaded the library, which is fine.
            return tryGreeting(greeting).orElseThrow(() -> e);
        }
        return greeting.get();
    }

    private static Optional<String> tryGreeting(Supplier<String> greeting) {
        try {
            return Optional.of(greeting.get());
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }

    /** Returns whether operators are available, and the reason. */
    public Status status() {
        return status.get();
    }

    /** Returns whether operators are enabled in this thread. */
    public boolean isOn() {
        return !FORCE_PORTABLE.get() && status().loaded();
    }

    /** Runs {@code body} without fused operators in this thread. */
    public static <T> T callPortable(Supplier<T> body) {
        return ThreadLocals.call(FORCE_PORTABLE, true, body);
    }
}
