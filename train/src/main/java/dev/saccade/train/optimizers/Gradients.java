package dev.saccade.train.optimizers;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The gradients of one loss by the names of the parameters; a parameter on which the loss does not
 * depend has none.
 *
 * <p>Nothing is left on the parameters that would have to be set to zero before the next step. Two
 * parameters may share one gradient, so gradients are never changed in place.
 *
 * @param arrays gradients, each with the shape of its parameter, in the order of the parameters
 */
public record Gradients(Map<String, NDArray> arrays) {

    private static final Script NORMS =
            Script.compile(
                    "(gradients: List[Tensor]) -> Tensor",
                    """
                    norms = torch.stack(torch._foreach_norm(gradients, 2))
                    return torch.cat([torch.norm(norms).reshape([1]), norms])
                    """);

    private static final ScriptTemplate FUSED_NORMS =
            ScriptTemplate.of(
                    "(gradients: List[Tensor]) -> Tensor", "return ops.saccade.norms(gradients)");

    /**
     * Euclidean norms of gradients.
     *
     * @param total norm of all gradients as one vector
     * @param byParameter norm of each gradient
     */
    public record Norms(float total, Map<String, Float> byParameter) {

        /** Keeps a copy. */
        public Norms {
            byParameter = ImmutableMap.copyOf(byParameter);
        }

        /**
         * Returns what the gradients are multiplied by so that their norm is at most {@code
         * maxNorm}, as PyTorch's {@code clip_grad_norm_} does.
         */
        public float clipFactor(double maxNorm) {
            return Math.min(1, 1 / (total + 1e-6f) * (float) maxNorm);
        }

        /** Returns the norms of the gradients divided by a number. */
        public Norms unscaled(double scale) {
            return scale == 1
                    ? this
                    : new Norms(
                            (float) (total / scale),
                            Maps.transformValues(byParameter, norm -> (float) (norm / scale)));
        }
    }

    /** Keeps a copy of the map. */
    public Gradients {
        arrays = ImmutableMap.copyOf(arrays);
    }

    /** Returns the parameters below a module that are learned: no buffer, none that is frozen. */
    public static Map<String, Parameter> trainable(Module module) {
        return module.namedParameters().entrySet().stream()
                .filter(e -> e.getValue().requiresGradient() && !Module.isBuffer(e.getValue()))
                .collect(toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /**
     * Runs a forward pass with gradients recorded in this thread, and the backward pass.
     *
     * @param loss computes a scalar, which is freed; its manager will own the gradients
     * @param parameters what to differentiate by, at least one
     */
    public static Gradients compute(Supplier<NDArray> loss, Map<String, Parameter> parameters) {
        List<NDArray> values = parameters.values().stream().map(Parameter::getArray).toList();
        return of(Autograd.gradients(loss, values), parameters.keySet());
    }

    /**
     * Returns gradients by name, without those that are empty.
     *
     * @param names of the parameters, in the order of the gradients
     */
    public static Gradients of(NDList gradients, Set<String> names) {
        Map<String, NDArray> byName = new LinkedHashMap<>();
        Iterator<NDArray> next = gradients.iterator();
        for (String name : names) {
            NDArray gradient = next.next();
            if (gradient.isEmpty()) {
                gradient.close();
            } else {
                byName.put(name, gradient);
            }
        }
        return new Gradients(byName);
    }

    /** Returns the sum of these and other gradients. */
    public Gradients plus(Gradients other) {
        return NoGrad.call(
                () -> {
                    Map<String, NDArray> sum = new LinkedHashMap<>(arrays);
                    other.arrays.forEach((name, b) -> sum.merge(name, b, NDArray::add));
                    return new Gradients(sum);
                });
    }

    /**
     * Returns the sums of the gradients of all ranks: one for each parameter, zeros where no rank
     * has one; each lies in memory as its parameter does. These gradients are freed.
     *
     * @param parameters those that the gradients are of, the same on all ranks
     * @param manager owns the sums
     */
    public Gradients sum(ProcessGroup ranks, Map<String, Parameter> parameters, NDManager manager) {
        List<NDArray> weights = parameters.values().stream().map(Parameter::getArray).toList();
        try (NDArray none = manager.create(new Shape(0))) {
            List<NDArray> own =
                    parameters.keySet().stream()
                            .map(name -> arrays.getOrDefault(name, none))
                            .toList();
            Map<String, NDArray> sums = new LinkedHashMap<>();
            Iterator<NDArray> values = ranks.allReduce(own, weights).iterator();
            parameters.keySet().forEach(name -> sums.put(name, values.next()));
            arrays.values().forEach(NDArray::close);
            return new Gradients(sums).attach(manager);
        }
    }

    /** Returns the gradients of some of the parameters. */
    public Gradients select(Set<String> names) {
        return new Gradients(Maps.filterKeys(arrays, names::contains));
    }

    /** Returns the norms, all 0 where there is no gradient. */
    public Norms norms() {
        if (arrays.isEmpty()) {
            return new Norms(0, Map.of());
        }
        try (NDArray found = normArray()) {
            return norms(Tensors.readFloats(found));
        }
    }

    /**
     * Returns the norms as an array, which may be read later together with others.
     *
     * @return {@code [1 + G]}: of all gradients as one vector, then of each of the G gradients;
     *     there is at least one
     */
    public NDArray normArray() {
        List<NDArray> values = List.copyOf(arrays.values());
        Script script = Kernels.isFusedFor(values.get(0)) ? FUSED_NORMS.with(Map.of()) : NORMS;
        return NoGrad.call(() -> script.runLists(List.of(values)).singletonOrThrow());
    }

    /**
     * Returns what {@link #normArray} has found.
     *
     * @param values {@code [1 + G]}
     */
    public Norms norms(float... values) {
        Map<String, Float> byParameter = new LinkedHashMap<>();
        int i = 1;
        for (String name : arrays.keySet()) {
            byParameter.put(name, values[i++]);
        }
        return new Norms(values[0], byParameter);
    }

    /** Gives the gradients to another manager, so that they outlive the one they came from. */
    public Gradients attach(NDManager manager) {
        arrays.values().forEach(array -> array.attach(manager));
        return this;
    }
}
