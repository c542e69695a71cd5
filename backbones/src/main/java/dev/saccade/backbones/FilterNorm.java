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

/**
 * Makes the filters of queries out of values, along the last axis, that of the keys: by a layer
 * normalization over the keys (Zhou et al. 2023), which is the filter normalization of Zhou et al.
 * 2021 with a gain and a bias for each key; then by softmax, by ReLU or by nothing.
 *
 * <p>A key that a query does not see gets a value lower by 100 in a softmax; else it is 0 in the
 * filter and does not count in the statistics.
 */
final class FilterNorm extends Module {

    /** What comes after the layer normalization, if there is one. */
    enum Activation {
        SOFTMAX,
        RELU,
        IDENTITY
    }

    private static final Script LAYER_NORM_OF_SEEN =
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

    private static final Script SOFTMAX_OF_SEEN =
            Script.compile(
                    "(x: Tensor, unseen: Tensor) -> Tensor",
                    "return torch.softmax(torch.add_(x, unseen, alpha=-100), -1)");

    private static final Script HIDE =
            Script.compile(
                    "(x: Tensor, unseen: Tensor) -> Tensor", "return torch.mul_(x, 1 - unseen)");

    private final Optional<Parameter> weight;
    private final Optional<Parameter> bias;
    private final Activation activation;

    /** Makes an activation. */
    FilterNorm(Activation activation) {
        this.weight = Optional.empty();
        this.bias = Optional.empty();
        this.activation = activation;
    }

    /** Makes a layer normalization over a number of keys with an activation behind it. */
    FilterNorm(int keys, Activation activation) {
        this.weight = Optional.of(parameter("weight", new Shape(keys), WeightInit.ONES));
        this.bias = Optional.of(parameter("bias", new Shape(keys), WeightInit.ZEROS));
        this.activation = activation;
    }

    /**
     * Makes filters.
     *
     * @param values {@code [..., keys]}, overwritten
     * @param unseen 1 for a key that a query does not see, else 0, to be broadcast; none if all are
     *     seen
     */
    NDArray forward(NDArray values, Optional<NDArray> unseen) {
        NDArray x = weight.isPresent() ? normalized(values, unseen) : values;
        if (activation == Activation.SOFTMAX) {
            return unseen.map(u -> SOFTMAX_OF_SEEN.run(x, u))
                    .orElseGet(() -> Functional.softmax(x, -1));
        }
        NDArray seen = unseen.map(u -> HIDE.run(x, u)).orElse(x);
        return activation == Activation.RELU ? Functional.reluInPlace(seen) : seen;
    }

    private NDArray normalized(NDArray values, Optional<NDArray> unseen) {
        NDArray w = weight.orElseThrow().getArray();
        NDArray b = bias.orElseThrow().getArray();
        return unseen.map(u -> LAYER_NORM_OF_SEEN.run(values, w, b, u))
                .orElseGet(() -> Functional.layerNorm(values, w, b, 1e-5f));
    }

    /** Takes values and, where some keys are unseen, which. */
    @Override
    public NDList call(NDList inputs) {
        return new NDList(forward(inputs.get(0), inputs.stream().skip(1).findFirst()));
    }
}
