package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;

import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Normalizes filters over the keys (last axis): optional layer normalization with a gain and bias
 * per key (Zhou et al. 2021 and 2023), then an activation.
 *
 * <p>Masked keys get -100 in a softmax; otherwise they are 0 and excluded from the statistics.
 */
final class FilterNorm extends Module {

    enum Activation {
        SOFTMAX,
        RELU,
        IDENTITY
    }

    private static final Script MASKED_LAYER_NORM =
            Script.compile(
                    "(x: Tensor, weight: Tensor, bias: Tensor, unseen: Tensor) -> Tensor",
                    """
                    seen = 1 - unseen
                    keys = torch.sum(seen, [-1], True)
                    mean = torch.sum(x * seen, [-1], True) / keys
                    centered = (x - mean) * seen
                    variance = torch.sum(centered * centered, [-1], True) / keys
                    return centered * torch.rsqrt(variance + 1.0e-5) * weight + bias
                    """);

    private static final Script MASKED_SOFTMAX =
            Script.compile(
                    "(x: Tensor, unseen: Tensor) -> Tensor",
                    "return torch.softmax(torch.add_(x, unseen, alpha=-100), -1)");

    private static final Script ZERO_MASKED =
            Script.compile(
                    "(x: Tensor, unseen: Tensor) -> Tensor", "return torch.mul_(x, 1 - unseen)");

    private final Optional<Parameter> weight;
    private final Optional<Parameter> bias;
    private final Activation activation;

    FilterNorm(Activation activation) {
        this.weight = Optional.empty();
        this.bias = Optional.empty();
        this.activation = activation;
    }

    FilterNorm(int keys, Activation activation) {
        this.weight = Optional.of(parameter("weight", new Shape(keys), WeightInit.ONES));
        this.bias = Optional.of(parameter("bias", new Shape(keys), WeightInit.ZEROS));
        this.activation = activation;
    }

    /**
     * Returns the normalized {@code [..., keys]} values; may overwrite the input. {@code unseen} is
     * 1 for masked keys and broadcasts.
     */
    NDArray forward(NDArray values, Optional<NDArray> unseen) {
        return forward(values, unseen, UnaryOperator.identity());
    }

    /** Normalizes like {@link #forward}; {@code perKey} fits gain and bias to the keys. */
    NDArray forward(NDArray values, Optional<NDArray> unseen, UnaryOperator<NDArray> perKey) {
        NDArray x = weight.isPresent() ? normalized(values, unseen, perKey) : values;
        if (activation == Activation.SOFTMAX) {
            return unseen.map(u -> MASKED_SOFTMAX.run(x, u))
                    .orElseGet(() -> Functional.softmax(x, -1));
        }
        NDArray masked = unseen.map(u -> ZERO_MASKED.run(x, u)).orElse(x);
        return activation == Activation.RELU ? Functional.reluInPlace(masked) : masked;
    }

    private NDArray normalized(
            NDArray values, Optional<NDArray> unseen, UnaryOperator<NDArray> perKey) {
        NDArray w = perKey.apply(weight.orElseThrow().getArray());
        NDArray b = perKey.apply(bias.orElseThrow().getArray());
        return unseen.map(u -> MASKED_LAYER_NORM.run(values, w, b, u))
                .orElseGet(() -> Functional.layerNorm(values, w, b, 1e-5f));
    }

    @Override
    public NDList call(NDList inputs) {
        return new NDList(forward(inputs.get(0), inputs.stream().skip(1).findFirst()));
    }
}
