package dev.saccade.core.ops;

import ai.djl.Device;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ThreadLocals;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * libtorch's autocast for this thread: matrix products, convolutions and {@linkplain Kernels fused
 * operators} cast inputs to 16 bits and accumulate in float32. Operators that need float32, such as
 * a logarithm on a GPU, cast back.
 *
 * <p>Weights and their gradients are float32. Run the backward pass outside of autocast, as {@link
 * dev.saccade.core.nn.Autograd} does; backward operators use the data types of the forward pass.
 */
public final class Autocast {

    private static final Logger LOG = LoggerFactory.getLogger(Autocast.class);

    private static final ThreadLocal<Mode> CURRENT = ThreadLocal.withInitial(() -> Mode.OFF);

    /** Whether the CPU supports matrix products, by precision. */
    private static final Map<Precision, Boolean> PRODUCTS = new ConcurrentHashMap<>();

    /**
     * Precisions of a thread, and whether weights cast to 16 bits are cached. Weights cast while
     * gradients are off must not be cached, because training would reuse them.
     */
    private record Mode(Precision onCpus, Precision onGpus, boolean cachesWeights) {

        private static final Mode OFF = new Mode(Precision.FLOAT32, Precision.FLOAT32, true);

        private Mode with(Precision precision, Device device) {
            boolean records = !NoGrad.isActive();
            return device.isGpu()
                    ? new Mode(onCpus, precision, records)
                    : new Mode(precision, onGpus, records);
        }

        private boolean isOff() {
            return onCpus == Precision.FLOAT32 && onGpus == Precision.FLOAT32;
        }

        private void set() {
            Kernels.numbers("autocast", Kernels.TOKEN, type(onCpus), type(onGpus), cachesWeights);
        }
    }

    private Autocast() {}

    /** Returns libtorch's data type code of a precision; -1 for no cast. */
    private static int type(Precision precision) {
        return switch (precision) {
            case FLOAT32 -> -1;
            case FLOAT16 -> 5;
            case BFLOAT16 -> 15;
        };
    }

    /** Returns the precision of this thread on a device. */
    public static Precision precision(Device device) {
        Mode mode = CURRENT.get();
        return device.isGpu() ? mode.onGpus : mode.onCpus;
    }

    /** Runs {@code body} in the given precision; 16-bit precisions require fused operators. */
    public static <T> T call(Precision precision, Device device, Supplier<T> body) {
        require(precision, device);
        return callIn(CURRENT.get().with(precision, device), body);
    }

    /** Runs {@code body} without autocast, for example for a loss. */
    public static <T> T off(Supplier<T> body) {
        return callIn(Mode.OFF, body);
    }

    /** Runs {@code body}, which must not record gradients, without caching cast weights. */
    public static <T> T withoutGradients(Supplier<T> body) {
        Mode mode = CURRENT.get();
        return callIn(new Mode(mode.onCpus, mode.onGpus, false), body);
    }

    private static <T> T callIn(Mode mode, Supplier<T> body) {
        Mode outer = CURRENT.get();
        if (mode.equals(outer) || (mode.isOff() && outer.isOff())) {
            return body.get();
        }
        mode.set();
        try {
            return ThreadLocals.call(CURRENT, mode, body);
        } finally {
            outer.set();
        }
    }

    /** Rejects 16-bit precisions without fused operators; warns if they are slow on the CPU. */
    public static void require(Precision precision, Device device) {
        if (precision == Precision.FLOAT32) {
            return;
        }
        requireOperators(precision, Kernels.status());
        if (!device.isGpu()) {
            PRODUCTS.computeIfAbsent(precision, Autocast::hasProducts);
        }
    }

    /** Returns whether the CPU multiplies in a 16-bit precision faster than in float32. */
    public static boolean isFastOnCpu(Precision precision) {
        return Kernels.status().loaded() && Kernels.number("has_products", type(precision)) > 0;
    }

    static void requireOperators(Precision precision, OperatorLibrary.Status status) {
        if (!status.loaded()) {
            throw SaccadeException.user(
                    "precision: %s needs fused operators, which are off: %s; set precision to"
                            + " float32",
                    name(precision), status.reason());
        }
    }

    private static String name(Precision precision) {
        return precision.name().toLowerCase(Locale.ROOT);
    }

    private static boolean hasProducts(Precision precision) {
        boolean has = isFastOnCpu(precision);
        if (!has) {
            LOG.warn(
                    "precision: {}: not supported by the processor, so it is slower than float32",
                    name(precision));
        }
        return has;
    }
}
