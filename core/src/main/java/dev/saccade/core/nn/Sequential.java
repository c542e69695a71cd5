package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.memory.Scope;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A chain of layers, like {@code torch.nn.Sequential}. Frees intermediate outputs. */
public final class Sequential extends Layer {

    private final List<UnaryOperator<NDArray>> steps = new ArrayList<>();

    /** Appends a layer named by its position. */
    public Sequential append(Layer layer) {
        return append(Integer.toString(steps.size()), layer);
    }

    public Sequential append(String name, Layer layer) {
        return then(add(name, layer));
    }

    /** Appends a function without parameters, such as {@code Functional::relu}. */
    public Sequential then(UnaryOperator<NDArray> function) {
        steps.add(function);
        return this;
    }

    @Override
    protected NDArray forward(NDArray x) {
        return Scope.chain(x, steps);
    }
}
