package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * A linear layer for inference on CPUs with 8-bit products; one operator also adds the bias and
 * applies GELU.
 */
final class FusedLinear extends FusedLayer {

    private static final ScriptTemplate PACK = ScriptTemplate.read(FusedLinear.class, "pack");
    private static final ScriptTemplate LINEAR = ScriptTemplate.read(FusedLinear.class, "linear");

    private final Linear layer;

    FusedLinear(Linear layer) {
        this.layer = layer;
    }

    /** Returns whether an input can be multiplied; otherwise, use the separate operators. */
    boolean supports(NDArray x) {
        return Quantization.isFast()
                && Kernels.isFusedForInferenceOnCpu(x)
                && Autocast.precision(x.getDevice()) != Precision.FLOAT16;
    }

    /** Maps {@code [..., in]} to {@code [..., out]}. */
    NDArray apply(NDArray x, boolean gelu) {
        int type = type(Autocast.precision(x.getDevice()));
        NDList arrays = packed(INT8, this::pack);
        LayerProfile.setProducts(name(INT8));
        return Functional.countedLinear(
                x,
                layer.weight(),
                () ->
                        LINEAR.with(Map.of("type", type, "gelu", gelu))
                                .run(x, arrays.get(0), arrays.get(1), arrays.get(2)));
    }

    /** Returns packed weights, their scales and the bias. */
    private NDList pack() {
        NDArray weight = layer.weight();
        NDList arrays = PACK.with(Map.of("products", INT8)).runAll(weight);
        Shape out = new Shape(weight.getShape().get(0));
        arrays.add(
                layer.bias()
                        .map(NDArray::duplicate)
                        .orElseGet(() -> weight.getManager().zeros(out)));
        return arrays;
    }
}
