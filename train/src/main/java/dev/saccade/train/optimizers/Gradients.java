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
 * Gradients of a loss by parameter name, with the shapes and in the order of the parameters.
 * Parameters that the loss does not depend on are missing.
 *
 * <p>Gradients do not accumulate, so there is no {@code zero_grad}. Two parameters may share a
 * gradient, so gradients are never changed in place.
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

    /** Euclidean norms of gradients; {@code total} is the norm of all gradients as one vector. */
    public record Norms(float total, Map<String, Float> byParameter) {

        public Norms {
            byParameter = ImmutableMap.copyOf(byParameter);
        }

        /** Returns the factor that limits the norm, like PyTorch's {@code clip_grad_norm_}. */
        public float clipFactor(double maxNorm) {
            return Math.min(1, 1 / (total + 1e-6f) * (float) maxNorm);
        }

        /** Returns the norms divided by a scale. */
        public Norms unscaled(double scale) {
            return scale == 1
                    ? this
                    : new Norms(
                            (float) (total / scale),
                            Maps.transformValues(byParameter, norm -> (float) (norm / scale)));
        }
    }

    public Gradients {
        arrays = ImmutableMap.copyOf(arrays);
    }

    /** Returns the parameters of a module that are neither buffers nor frozen. */
    public static Map<String, Parameter> trainable(Module module) {
        return module.namedParameters().entrySet().stream()
                .filter(e -> e.getValue().requiresGradient() && !Module.isBuffer(e.getValue()))
                .collect(toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /**
     * Runs forward and backward passes of a scalar loss and returns its gradients, owned by the
     * manager of the loss. Closes the loss.
     */
    public static Gradients compute(Supplier<NDArray> loss, Map<String, Parameter> parameters) {
        List<NDArray> values = parameters.values().stream().map(Parameter::getArray).toList();
        return of(Autograd.gradients(loss, values), parameters.keySet());
    }

    /** Returns the nonempty gradients by name; names are in the order of the gradients. */
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

    public Gradients plus(Gradients other) {
        return NoGrad.call(
                () -> {
                    Map<String, NDArray> sum = new LinkedHashMap<>(arrays);
                    other.arrays.forEach((name, b) -> sum.merge(name, b, NDArray::add));
                    return new Gradients(sum);
                });
    }

    /**
     * Returns the sums over all ranks: one per parameter, zeros if no rank has a gradient, with the
     * memory format of the parameter. Closes these gradients.
     *
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

    public Gradients select(Set<String> names) {
        return new Gradients(Maps.filterKeys(arrays, names::contains));
    }

    /** Returns the norms; 0 without gradients. */
    public Norms norms() {
        if (arrays.isEmpty()) {
            return new Norms(0, Map.of());
        }
        try (NDArray found = normArray()) {
            return norms(Tensors.readFloats(found));
        }
    }

    /**
     * Returns {@code [1 + G]} on the device: total norm, then the norm of each of the G &gt; 0
     * gradients.
     */
    public NDArray normArray() {
        List<NDArray> values = List.copyOf(arrays.values());
        Script script = Kernels.isFusedFor(values.get(0)) ? FUSED_NORMS.with(Map.of()) : NORMS;
        return NoGrad.call(() -> script.runLists(List.of(values)).singletonOrThrow());
    }

    /** Returns the norms, given the values of {@link #normArray}. */
    public Norms norms(float... values) {
        Map<String, Float> byParameter = new LinkedHashMap<>();
        int i = 1;
        for (String name : arrays.keySet()) {
            byParameter.put(name, values[i++]);
        }
        return new Norms(values[0], byParameter);
    }

    /** Moves the gradients to another manager and returns them. */
    public Gradients attach(NDManager manager) {
        arrays.values().forEach(array -> array.attach(manager));
        return this;
    }
}
