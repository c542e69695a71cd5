package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Suppliers;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Streams;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A convolution for inference on CPUs: its weights are packed at the first call, and one operator
 * also adds the bias and a residual and applies ReLU.
 *
 * <p>3x3 convolutions with stride 1 use Winograd's algorithm, with a quarter of the
 * multiplications, unless the output is tiny. Their products are float32, also if the maps are
 * bfloat16, or bfloat16 if quantized; on the smallest maps, 8-bit if quantized. Others are computed
 * directly with 8-bit products if quantized, and otherwise in the current {@link Autocast}
 * precision: by oneDNN in float32 without a residual, if there are few channels, or if the
 * processor has no bfloat16 products.
 */
final class FusedConv2d extends FusedLayer {

    private enum Algorithm {
        ONEDNN(FLOAT32),
        WINOGRAD_FLOAT32(FLOAT32),
        WINOGRAD_BFLOAT16(BFLOAT16),
        DIRECT_FLOAT32(FLOAT32),
        DIRECT_BFLOAT16(BFLOAT16),
        DIRECT_INT8(INT8);

        /**
         * Type of the products; unused with oneDNN, which multiplies in the precision of the maps.
         */
        private final int products;

        Algorithm(int products) {
            this.products = products;
        }
    }

    /** Output pixels along a side of a tile of Winograd's algorithm. */
    private static final int TILE = 4;

    /** With fewer tiles, reading the transformed weights takes longer than multiplying them. */
    private static final int MIN_TILES = 4;

    /** With fewer tiles, 8-bit products are faster than Winograd's algorithm. */
    private static final int MIN_QUANTIZED_TILES = 16;

    /** Whether oneDNN convolves bfloat16 maps: with AVX-512, or native products on Arm. */
    private static final Supplier<Boolean> HAS_BFLOAT16 =
            Suppliers.memoize(
                    () ->
                            Kernels.number("instruction_set") == 512
                                    || Kernels.number("has_products", BFLOAT16) > 0);

    private static final ScriptTemplate PACK_ONEDNN = read("pack_onednn");
    private static final ScriptTemplate PACK_WINOGRAD = read("pack_winograd");
    private static final ScriptTemplate PACK_DIRECT = read("pack_direct");
    private static final ScriptTemplate ONEDNN = read("onednn");
    private static final ScriptTemplate ONEDNN_ADD = read("onednn_add");
    private static final ScriptTemplate WINOGRAD = read("winograd");
    private static final ScriptTemplate WINOGRAD_ADD = read("winograd_add");
    private static final ScriptTemplate DIRECT = read("direct");
    private static final ScriptTemplate DIRECT_ADD = read("direct_add");

    private final Geometry geometry;
    private final boolean quantized;
    private final boolean isOutput;
    private final Supplier<NDList> weights;
    private final Map<Call, Script> scripts = new ConcurrentHashMap<>();

    /**
     * Key of packed weights; {@code precision} is the precision of the maps, or FLOAT32 if unused.
     */
    private record Weights(Algorithm algorithm, Precision precision) {}

    private record Call(Algorithm algorithm, Precision precision, boolean adds, boolean relu) {

        private int products() {
            return algorithm == Algorithm.ONEDNN ? type(precision) : algorithm.products;
        }

        private Weights weights() {
            return new Weights(
                    algorithm, algorithm == Algorithm.ONEDNN ? precision : Precision.FLOAT32);
        }
    }

    /**
     * Creates a convolution.
     *
     * @param quantized whether to use products of 8 or 16 bits if the processor has them
     * @param isOutput whether this is an output layer, which never uses products of 8 bits
     * @param weights returns float32 weight and bias
     */
    FusedConv2d(Geometry geometry, boolean quantized, boolean isOutput, Supplier<NDList> weights) {
        this.geometry = geometry;
        this.quantized = quantized;
        this.isOutput = isOutput;
        this.weights = weights;
    }

    private static ScriptTemplate read(String function) {
        return ScriptTemplate.read(FusedConv2d.class, function);
    }

    /** Returns whether there are enough channels to transform or quantize them. */
    static boolean isDense(Geometry geometry) {
        return geometry.groups() == 1 && Math.min(geometry.in(), geometry.out()) >= MIN_CHANNELS;
    }

    /** Returns whether 8-bit products pay off and their sum fits into 32 bits. */
    static boolean supportsInt8(Geometry geometry) {
        long area = (long) geometry.kernel() * geometry.kernel();
        return isDense(geometry) && area * geometry.in() <= MAX_INT8_PRODUCTS;
    }

    /** Returns whether Winograd's algorithm is used. */
    static boolean isWinograd(Geometry geometry) {
        return isDense(geometry)
                && geometry.kernel() == 3
                && geometry.stride() == 1
                && geometry.dilation() == 1;
    }

    /** Returns the algorithm for outputs {@code [N, out, h, w]} of this size. */
    private Algorithm algorithm(Shape y, Precision precision, boolean adds) {
        if (usesWinograd(y)) {
            return hasSmallProducts() ? Algorithm.WINOGRAD_BFLOAT16 : Algorithm.WINOGRAD_FLOAT32;
        }
        if (!isDense(geometry)) {
            return Algorithm.ONEDNN;
        }
        if (hasInt8Products()) {
            return Algorithm.DIRECT_INT8;
        }
        if (precision == Precision.BFLOAT16) {
            return Quantization.hasProducts(BFLOAT16)
                    ? Algorithm.DIRECT_BFLOAT16
                    : Algorithm.ONEDNN;
        }
        // oneDNN adds slowly.
        return adds ? Algorithm.DIRECT_FLOAT32 : Algorithm.ONEDNN;
    }

    private boolean hasSmallProducts() {
        return quantized && Quantization.isFast();
    }

    private boolean hasInt8Products() {
        return hasSmallProducts() && !isOutput && supportsInt8(geometry);
    }

    private boolean usesWinograd(Shape y) {
        return isWinograd(geometry)
                && tiles(y) >= (hasInt8Products() ? MIN_QUANTIZED_TILES : MIN_TILES);
    }

    /** Returns the number of tiles of an image; batches must not change the algorithm. */
    private static long tiles(Shape y) {
        return ((y.get(2) + TILE - 1) / TILE) * ((y.get(3) + TILE - 1) / TILE);
    }

    /** Returns the number of multiplications of Winograd's algorithm, without its transforms. */
    private long winogradProducts(Shape y) {
        int inputTile = TILE + geometry.kernel() - 1;
        return y.get(0) * tiles(y) * inputTile * inputTile * geometry.in() * geometry.out();
    }

    /** Returns whether an input can be convolved; otherwise, use the separate layers. */
    boolean supports(NDArray x) {
        int width = geometry.in() / geometry.groups();
        return !(geometry.groups() > 1 && Functional.isNarrow(width, x.getDataType()))
                && Kernels.isFusedForInferenceOnCpu(x)
                && supports(Autocast.precision(x.getDevice()));
    }

    private static boolean supports(Precision precision) {
        return switch (precision) {
            case FLOAT32 -> true;
            case BFLOAT16 -> HAS_BFLOAT16.get();
            case FLOAT16 -> false;
        };
    }

    /**
     * Returns the convolution of {@code x}, plus {@code residual} if present, then ReLU if {@code
     * relu}.
     */
    NDArray apply(NDArray x, Optional<NDArray> residual, boolean relu) {
        Shape result = geometry.outputShape(x.getShape());
        long area = (long) geometry.kernel() * geometry.kernel();
        long direct = result.size() * geometry.in() / geometry.groups() * area;
        return MultiplyAdds.run(
                direct,
                usesWinograd(result) ? winogradProducts(result) : direct,
                x,
                result,
                () -> convolve(x, result, residual, relu));
    }

    private NDArray convolve(NDArray x, Shape result, Optional<NDArray> residual, boolean relu) {
        if (residual.isPresent() && !supportsAddition(result)) {
            NDArray sum = convolve(x, result, Optional.empty(), false).addi(residual.get());
            return relu ? Functional.reluInPlace(sum) : sum;
        }
        Precision precision = Autocast.precision(x.getDevice());
        Call call =
                new Call(
                        algorithm(result, precision, residual.isPresent()),
                        precision,
                        residual.isPresent(),
                        relu);
        LayerProfile.setProducts(name(call.products()));
        Script script = scripts.computeIfAbsent(call, this::script);
        NDList arrays = packed(call.weights(), () -> pack(call.weights()));
        Stream<NDArray> inputs = Streams.concat(Stream.of(x), arrays.stream(), residual.stream());
        return script.run(inputs.toArray(NDArray[]::new));
    }

    /**
     * Returns whether a residual can be added: libtorch 2.7.1 does not add to grouped bfloat16
     * convolutions, to a single channel or to maps of one pixel.
     */
    private boolean supportsAddition(Shape y) {
        return geometry.groups() == 1 && geometry.out() > 1 && y.get(2) * y.get(3) > 1;
    }

    private Script script(Call call) {
        int type = type(call.precision);
        return switch (call.algorithm) {
            case ONEDNN -> {
                // Without an addition, oneDNN's name of no activation is "none".
                String none = call.adds ? "None" : "\"none\"";
                yield (call.adds ? ONEDNN_ADD : ONEDNN)
                        .with(
                                with(
                                        geometryConstants(),
                                        Map.of(
                                                "type",
                                                type,
                                                "activation",
                                                call.relu ? "\"relu\"" : none)));
            }
            case DIRECT_FLOAT32, DIRECT_BFLOAT16, DIRECT_INT8 ->
                    (call.adds ? DIRECT_ADD : DIRECT)
                            .with(
                                    Map.of(
                                            "type", type,
                                            "kernel", geometry.kernel(),
                                            "stride", geometry.stride(),
                                            "padding", geometry.padding(),
                                            "dilation", geometry.dilation(),
                                            "relu", call.relu));
            case WINOGRAD_FLOAT32, WINOGRAD_BFLOAT16 ->
                    (call.adds ? WINOGRAD_ADD : WINOGRAD)
                            .with(
                                    Map.of(
                                            "type",
                                            type,
                                            "out",
                                            geometry.out(),
                                            "padding",
                                            geometry.padding(),
                                            "relu",
                                            call.relu));
        };
    }

    /** Returns packed weights and the bias. */
    private NDList pack(Weights key) {
        NDList arrays = weights.get();
        NDList all = pack(arrays.get(0), key);
        all.add(arrays.get(1).duplicate());
        return all;
    }

    private NDList pack(NDArray weight, Weights key) {
        return switch (key.algorithm) {
            case ONEDNN ->
                    PACK_ONEDNN
                            .with(with(geometryConstants(), Map.of("type", type(key.precision))))
                            .runAll(weight);
            case DIRECT_FLOAT32, DIRECT_BFLOAT16, DIRECT_INT8 ->
                    PACK_DIRECT.with(Map.of("products", key.algorithm.products)).runAll(weight);
            case WINOGRAD_FLOAT32, WINOGRAD_BFLOAT16 ->
                    PACK_WINOGRAD.with(Map.of("products", key.algorithm.products)).runAll(weight);
        };
    }

    private static Map<String, Object> with(Map<String, ?> some, Map<String, ?> others) {
        return ImmutableMap.<String, Object>builder().putAll(some).putAll(others).build();
    }

    private Map<String, ?> geometryConstants() {
        return Map.of(
                "stride", square(geometry.stride()),
                "padding", square(geometry.padding()),
                "dilation", square(geometry.dilation()),
                "groups", geometry.groups());
    }

    private static List<Integer> square(int side) {
        return List.of(side, side);
    }
}
