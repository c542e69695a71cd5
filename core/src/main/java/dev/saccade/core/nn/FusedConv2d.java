package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A convolution for inference on CPUs: its weights are packed at the first call, and one operator
 * also adds the bias and a residual and applies ReLU.
 *
 * <p>3x3 convolutions with stride 1 use Winograd's algorithm in float32, with a quarter of the
 * multiplications, also if the maps are bfloat16. All others use oneDNN.
 */
final class FusedConv2d implements AutoCloseable {

    /** With fewer channels, transforming the values takes longer than multiplying them. */
    private static final int MIN_WINOGRAD_CHANNELS = 16;

    private static final ScriptTemplate PACK = ScriptTemplate.read(FusedConv2d.class, "pack");

    private static final ScriptTemplate CONVOLUTION =
            ScriptTemplate.read(FusedConv2d.class, "convolution");

    private static final ScriptTemplate CONVOLUTION_ADD =
            ScriptTemplate.read(FusedConv2d.class, "convolution_add");

    private static final ScriptTemplate WINOGRAD =
            ScriptTemplate.read(FusedConv2d.class, "winograd");

    private static final ScriptTemplate WINOGRAD_ADD =
            ScriptTemplate.read(FusedConv2d.class, "winograd_add");

    private final Geometry geometry;
    private final boolean winograd;
    private final Supplier<NDList> weights;
    private final Map<Precision, NDList> packed = new EnumMap<>(Precision.class);

    /** Creates a convolution; {@code weights} returns float32 weight and bias. */
    FusedConv2d(Geometry geometry, Supplier<NDList> weights) {
        this.geometry = geometry;
        this.weights = weights;
        winograd =
                geometry.kernel() == 3
                        && geometry.stride() == 1
                        && geometry.dilation() == 1
                        && geometry.groups() == 1
                        && Math.min(geometry.in(), geometry.out()) >= MIN_WINOGRAD_CHANNELS;
    }

    /** Returns whether an input can be convolved; otherwise, use the separate layers. */
    boolean supports(NDArray x) {
        int width = geometry.in() / geometry.groups();
        return !(geometry.groups() > 1 && Functional.isNarrow(width, x.getDataType()))
                && NoGrad.isActive()
                && x.size() > 0
                && !x.getDevice().isGpu()
                && x.getDataType() != DataType.FLOAT64
                && Autocast.precision(x.getDevice()) != Precision.FLOAT16
                && Kernels.isFusedFor(x);
    }

    /**
     * Returns the convolution of {@code x}, plus {@code residual} if present, then ReLU if {@code
     * relu}.
     */
    NDArray apply(NDArray x, Optional<NDArray> residual, boolean relu) {
        Shape result = geometry.outputShape(x.getShape());
        long products = result.size() * geometry.in() / geometry.groups();
        return MultiplyAdds.run(
                products * geometry.kernel() * geometry.kernel(),
                x,
                result,
                () -> convolve(x, residual, relu));
    }

    private NDArray convolve(NDArray x, Optional<NDArray> residual, boolean relu) {
        if (geometry.groups() > 1 && residual.isPresent()) {
            // oneDNN operators of libtorch 2.7.1 do not add to grouped bfloat16 convolutions.
            NDArray sum = convolve(x, Optional.empty(), false).addi(residual.get());
            return relu ? Functional.reluInPlace(sum) : sum;
        }
        Precision precision = Autocast.precision(x.getDevice());
        NDList arrays = packed(precision);
        ImmutableMap.Builder<String, Object> constants = ImmutableMap.builder();
        constants.put("type", type(precision));
        ScriptTemplate template;
        if (winograd) {
            template = residual.isPresent() ? WINOGRAD_ADD : WINOGRAD;
            constants.put("out", geometry.out());
            constants.put("padding", geometry.padding());
            constants.put("relu", relu);
        } else {
            template = residual.isPresent() ? CONVOLUTION_ADD : CONVOLUTION;
            constants.putAll(geometryConstants());
            constants.put(
                    "activation", relu ? "\"relu\"" : residual.isPresent() ? "None" : "\"none\"");
        }
        Script script = template.with(constants.build());
        return residual.isPresent()
                ? script.run(x, arrays.get(0), arrays.get(1), residual.get())
                : script.run(x, arrays.get(0), arrays.get(1));
    }

    /** Returns packed weight and bias; Winograd weights are the same in both precisions. */
    private synchronized NDList packed(Precision precision) {
        return packed.computeIfAbsent(winograd ? Precision.FLOAT32 : precision, this::pack);
    }

    private NDList pack(Precision precision) {
        NDList result =
                Scope.list(
                        () -> {
                            NDList arrays = weights.get();
                            NDArray weight =
                                    winograd
                                            ? Script.call(
                                                    "ops.saccade.winograd_weights", arrays.get(0))
                                            : pack(arrays.get(0), precision);
                            return new NDList(weight, arrays.get(1).duplicate());
                        });
        // Otherwise the scope of the first forward pass would free them.
        NDScope.unregister(result);
        return result;
    }

    private NDArray pack(NDArray weight, Precision precision) {
        Map<String, ?> constants =
                ImmutableMap.<String, Object>builder()
                        .put("type", type(precision))
                        .putAll(geometryConstants())
                        .build();
        return PACK.with(constants).run(weight);
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

    private static int type(Precision precision) {
        return precision == Precision.BFLOAT16 ? 15 : 6;
    }

    @Override
    public void close() {
        packed.values().forEach(NDList::close);
    }
}
