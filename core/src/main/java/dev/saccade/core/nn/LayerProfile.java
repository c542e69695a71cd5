package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Longs;

import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/** Measures the time of each layer while a model runs in this thread. */
public final class LayerProfile {

    private static final ThreadLocal<LayerProfile> CURRENT = new ThreadLocal<>();

    private static final ScriptTemplate IS_CHANNELS_LAST =
            ScriptTemplate.read(LayerProfile.class, "is_channels_last");

    /**
     * Time of a layer without the layers that it calls.
     *
     * @param path dotted name of the layer in the model
     * @param type class of the layer
     * @param output shape of the first output
     * @param calls number of calls, such as one per feature level
     * @param multiplyAdds total of all calls; Winograd's algorithm needs fewer than a direct
     *     convolution
     * @param bytes size of inputs and outputs of all calls
     * @param format {@code NHWC}, {@code NCHW}, or {@code -} for other than four axes
     * @param precision data type of the products, such as {@code int8}; of layers without fused
     *     products, data type of the first output. {@code a+b} if it depends on the call
     */
    public record Entry(
            String path,
            String type,
            List<Long> output,
            int calls,
            double seconds,
            long multiplyAdds,
            long bytes,
            String format,
            String precision) {

        private Entry plus(Entry other) {
            return new Entry(
                    path,
                    type,
                    output,
                    calls + other.calls,
                    seconds + other.seconds,
                    multiplyAdds + other.multiplyAdds,
                    bytes + other.bytes,
                    format,
                    Splitter.on('+').splitToList(precision).contains(other.precision)
                            ? precision
                            : precision + "+" + other.precision);
        }
    }

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private double nestedSeconds;
    private long nestedMultiplyAdds;
    private String products;

    private LayerProfile() {}

    /** Runs a forward pass and returns its layers in the order in which they finish. */
    public static List<Entry> of(Runnable forward) {
        LayerProfile profile = new LayerProfile();
        ThreadLocals.call(
                CURRENT,
                profile,
                () -> {
                    MultiplyAdds.measure(forward);
                    return profile;
                });
        return ImmutableList.copyOf(profile.entries.values());
    }

    /** Runs a layer and, while this thread profiles, measures it. */
    static NDArray run(Module layer, NDArray x, Supplier<NDArray> forward) {
        LayerProfile profile = CURRENT.get();
        return profile == null ? forward.get() : profile.measure(layer, x, forward);
    }

    /** Sets the data type of the products of the current layer while this thread profiles. */
    static void setProducts(String dataType) {
        LayerProfile profile = CURRENT.get();
        if (profile != null) {
            profile.products = dataType;
        }
    }

    private NDArray measure(Module layer, NDArray x, Supplier<NDArray> forward) {
        double outerSeconds = nestedSeconds;
        long outerMultiplyAdds = nestedMultiplyAdds;
        String outerProducts = products;
        nestedSeconds = 0;
        nestedMultiplyAdds = 0;
        products = null;
        long countBefore = MultiplyAdds.measured();
        long start = System.nanoTime();
        NDArray y = forward.get();
        double seconds = (System.nanoTime() - start) / 1e9;
        long multiplyAdds = MultiplyAdds.measured() - countBefore;
        Entry entry =
                new Entry(
                        layer.path(),
                        layer.getClass().getSimpleName(),
                        Longs.asList(y.getShape().getShape()),
                        1,
                        seconds - nestedSeconds,
                        multiplyAdds - nestedMultiplyAdds,
                        bytes(x) + bytes(y),
                        format(y),
                        products == null ? precision(y) : products);
        entries.merge(entry.path + " " + entry.type, entry, Entry::plus);
        products = outerProducts;
        nestedSeconds = outerSeconds + seconds;
        nestedMultiplyAdds = outerMultiplyAdds + multiplyAdds;
        return y;
    }

    private static long bytes(NDArray array) {
        DataType type = array.getDataType();
        // bfloat16, which DJL lacks, has two bytes.
        return array.size() * (type == DataType.UNKNOWN ? 2 : type.getNumOfBytes());
    }

    private static String format(NDArray array) {
        if (array.getShape().dimension() != 4) {
            return "-";
        }
        try (NDArray isLast = IS_CHANNELS_LAST.with(Map.of()).run(array)) {
            return isLast.getBoolean() ? "NHWC" : "NCHW";
        }
    }

    private static String precision(NDArray array) {
        DataType type = array.getDataType();
        return type == DataType.UNKNOWN ? "bfloat16" : type.name().toLowerCase(Locale.ROOT);
    }
}
