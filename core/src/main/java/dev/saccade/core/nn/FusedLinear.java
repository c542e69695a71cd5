package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * A linear layer for inference on CPUs with bfloat16 or 8-bit products; one operator also adds the
 * bias and applies GELU.
 */
final class FusedLinear extends FusedLayer {

    private static final ScriptTemplate PACK = ScriptTemplate.read(FusedLinear.class, "pack");
    private static final ScriptTemplate LINEAR = ScriptTemplate.read(FusedLinear.class, "linear");

    private final Linear layer;
    private final boolean quantized;

    /**
     * Creates a layer.
     *
     * @param quantized whether to use 8-bit products if the processor has them
     */
    FusedLinear(Linear layer, boolean quantized) {
        this.layer = layer;
        this.quantized = quantized;
    }

    /** Returns whether an input can be multiplied; otherwise, use the separate operators. */
    boolean supports(NDArray x) {
        return isInference(x)
                && switch (Autocast.precision(x.getDevice())) {
                    case FLOAT32 -> isSmall();
                    case BFLOAT16 -> Quantization.hasProducts(products());
                    case FLOAT16 -> false;
                };
    }

    private boolean isSmall() {
        return quantized && Quantization.isFast();
    }

    private int products() {
        return isSmall() ? INT8 : BFLOAT16;
    }

    /** Maps {@code [..., in]} to {@code [..., out]}. */
    NDArray apply(NDArray x, boolean gelu) {
        int type = type(Autocast.precision(x.getDevice()));
        NDList arrays = packed(products(), this::pack);
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
        NDList arrays = PACK.with(Map.of("products", products())).runAll(weight);
        Shape out = new Shape(weight.getShape().get(0));
        arrays.add(
                layer.bias()
                        .map(NDArray::duplicate)
                        .orElseGet(() -> weight.getManager().zeros(out)));
        return arrays;
    }
}
