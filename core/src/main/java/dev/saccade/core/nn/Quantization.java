package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMultiset;
import com.google.common.collect.Maps;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Kernels;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Chooses the convolutions and linear layers of a model that {@linkplain Module#fuse() fusion}
 * computes with smaller products: 3x3 convolutions with bfloat16, and others with 8-bit products.
 *
 * <p>8-bit weights have a scale per output channel. 8-bit inputs have a scale and an offset per
 * output pixel or token, taken from its input values, so no calibration is needed.
 */
public final class Quantization {

    private static final Map<Integer, Boolean> HAS_PRODUCTS = new ConcurrentHashMap<>();

    private static final ThreadLocal<Quantization> MEASURING = new ThreadLocal<>();

    private final Map<Quantizable<?>, FusedLayer> quantized = new LinkedHashMap<>();
    private final Map<Quantizable<?>, double[]> sums = new LinkedHashMap<>();

    private Quantization() {}

    /**
     * Returns whether quantized layers are faster: fused operators are loaded, and the processor
     * has AVX-512 VNNI and AVX-512 BF16. Otherwise, these layers compute like all others.
     */
    public static boolean isFast() {
        return hasProducts(FusedLayer.INT8);
    }

    /** Returns whether fused operators are loaded and the processor has products of this type. */
    static boolean hasProducts(int type) {
        return Kernels.status().loaded()
                && HAS_PRODUCTS.computeIfAbsent(
                        type, each -> Kernels.number("has_direct_products", each) > 0);
    }

    /**
     * Returns the dotted names of the layers that can be quantized, in the order of the model.
     * Output layers are never computed with 8 bits: convolutions that are neither part of a {@link
     * ConvModule} nor {@linkplain Conv2d#asHidden() marked}, and {@linkplain Linear#asOutput()
     * marked} linear layers.
     */
    public static List<String> layers(Module model) {
        return layers(model, Quantizable::isQuantizable);
    }

    /** Returns the {@link #layers} that can be computed with 8 bits: all except output layers. */
    public static List<String> int8Layers(Module model) {
        return layers(model, layer -> layer.isQuantizable() && !layer.isOutput());
    }

    private static List<String> layers(Module model, Predicate<Quantizable<?>> condition) {
        return ImmutableList.copyOf(
                Maps.filterValues(
                                model.namedModules(),
                                layer ->
                                        layer instanceof Quantizable<?> each
                                                && condition.test(each))
                        .keySet());
    }

    /**
     * Quantizes exactly these layers and fuses the model, which must be in inference mode. Must not
     * run during predictions. All models with the same modules are quantized.
     *
     * @throws SaccadeException of kind user, if a name is not one of {@link #layers} or is repeated
     */
    public static void apply(Module model, List<String> layers) {
        List<String> known = layers(model);
        List<String> unknown = layers.stream().filter(name -> !known.contains(name)).toList();
        if (!unknown.isEmpty()) {
            throw SaccadeException.user(
                    "quantized_layers: got %d unknown names such as %s, expected layers of the"
                            + " model such as %s",
                    unknown.size(),
                    unknown.stream().limit(3).toList(),
                    known.stream().limit(3).toList());
        }
        ImmutableMultiset.copyOf(layers).entrySet().stream()
                .filter(name -> name.getCount() > 1)
                .findFirst()
                .ifPresent(
                        name -> {
                            throw SaccadeException.user(
                                    "quantized_layers: got %s %d times, expected each layer once",
                                    name.getElement(), name.getCount());
                        });
        Map<String, Module> modules = model.namedModules();
        known.forEach(
                name -> ((Quantizable<?>) modules.get(name)).setQuantized(layers.contains(name)));
        model.fuse();
    }

    /**
     * Runs forward passes of a fused model without quantized layers, and returns the error that
     * quantization would add to each layer's output: the root mean square of the differences,
     * divided by the root mean square of the output. The result omits layers that did not run.
     */
    public static Map<String, Double> errors(Runnable forward) {
        Quantization measuring = new Quantization();
        try {
            ThreadLocals.call(
                    MEASURING,
                    measuring,
                    () -> {
                        forward.run();
                        return measuring;
                    });
            Map<String, Double> errors = new LinkedHashMap<>();
            measuring.sums.forEach(
                    (layer, sum) ->
                            errors.put(layer.path(), sum[1] == 0 ? 0 : Math.sqrt(sum[0] / sum[1])));
            return errors;
        } finally {
            measuring.quantized.values().forEach(FusedLayer::close);
        }
    }

    /**
     * Compares {@code y}, the output of a layer, with the quantized one if measuring.
     *
     * @param apply computes the output with the quantized layer
     */
    static <F extends FusedLayer> NDArray observe(
            Quantizable<F> layer, NDArray y, Function<F, NDArray> apply) {
        Quantization measuring = MEASURING.get();
        if (measuring != null && layer.isQuantizable()) {
            @SuppressWarnings("unchecked") // of the same layer
            F other = (F) measuring.quantized.computeIfAbsent(layer, each -> layer.quantizedCopy());
            double[] sum = measuring.sums.computeIfAbsent(layer, each -> new double[2]);
            Scope.run(
                    () -> {
                        NDArray expected = Tensors.toFloat32(y);
                        NDArray found = Tensors.toFloat32(apply.apply(other));
                        sum[0] += found.sub(expected).square().sum().getFloat();
                        sum[1] += expected.square().sum().getFloat();
                    });
        }
        return y;
    }
}
