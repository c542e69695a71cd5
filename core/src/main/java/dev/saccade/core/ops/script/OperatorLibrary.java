package dev.saccade.core.ops.script;

import com.google.common.base.Suppliers;

import dev.saccade.core.Libtorch;
import dev.saccade.core.NativeLibrary;
import dev.saccade.core.NativePlatform;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ThreadLocals;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.URL;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A library of operators for libtorch, which scripts call as {@code ops.NAMESPACE.OPERATOR}: a
 * shared object with a {@code TORCH_LIBRARY} in it.
 *
 * <p>It travels on the class path as {@code /native/PLATFORM/libNAME.so}, by {@link
 * NativePlatform#name}, or as libraries are called on that platform, and is loaded when it is first
 * asked for. Where that fails, on other platforms and processors, or with {@code
 * -Dsaccade.kernels=portable}, operators are to be composed of those of libtorch.
 */
public final class OperatorLibrary {

    /** The property that turns the operators of all libraries off. */
    public static final String PROPERTY = "saccade.kernels";

    private static final Logger LOG = LoggerFactory.getLogger(OperatorLibrary.class);

    private static final ThreadLocal<Boolean> PORTABLY = ThreadLocal.withInitial(() -> false);

    private final Supplier<Status> status;

    /**
     * What became of a library.
     *
     * @param loaded whether its operators run
     * @param reason why, in a few words
     */
    public record Status(boolean loaded, String reason) {

        @Override
        public String toString() {
            return (loaded ? "fused" : "portable") + " (" + reason + ")";
        }
    }

    /**
     * Makes a library that is not loaded yet.
     *
     * @param owner a class of the jar that it travels in
     * @param name {@code NAME} of its file
     * @param greeting says in a few words what runs, by an operator of the library; throws an
     *     {@link IllegalStateException} where it cannot run here
     */
    public OperatorLibrary(Class<?> owner, String name, Supplier<String> greeting) {
        status = Suppliers.memoize(() -> load(owner, name, greeting));
    }

    private static Status load(Class<?> owner, String name, Supplier<String> greeting) {
        if ("portable".equals(System.getProperty(PROPERTY))) {
            return new Status(false, "-D" + PROPERTY + "=portable");
        }
        String platform = NativePlatform.name();
        URL resource = owner.getResource("/native/" + platform + "/" + System.mapLibraryName(name));
        if (resource == null) {
            return new Status(false, "no library for " + platform);
        }
        try {
            return new Status(true, load(resource, greeting));
        } catch (SaccadeException | UnsatisfiedLinkError | IllegalStateException e) {
            LOG.warn("fused operators are off: {}", e.getMessage());
            return new Status(false, "the library cannot be loaded: " + e.getMessage());
        }
    }

    private static String load(URL resource, Supplier<String> greeting) {
        // Its symbols are those of libtorch, which the engine loads.
        Libtorch.engine();
        try {
            System.load(NativeLibrary.file(resource).toString());
        } catch (UnsatisfiedLinkError e) {
            // Another class loader may have loaded it, which is as good.
            return answered(greeting).orElseThrow(() -> e);
        }
        return greeting.get();
    }

    private static Optional<String> answered(Supplier<String> greeting) {
        try {
            return Optional.of(greeting.get());
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }

    /** Returns whether its operators run, and why. */
    public Status status() {
        return status.get();
    }

    /** Returns whether its operators are to run in this thread. */
    public boolean isOn() {
        return !PORTABLY.get() && status().loaded();
    }

    /** Runs something without fused operators in this thread, to hold the one against the other. */
    public static <T> T callPortable(Supplier<T> body) {
        return ThreadLocals.call(PORTABLY, true, body);
    }
}
