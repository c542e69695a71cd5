package dev.saccade.train.optimizers;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

import static java.util.stream.Collectors.joining;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Doubles;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.train.optimizers.ModelEma.Update;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Updates the trainable parameters of a module in place. Not thread-safe; {@link #close} frees the
 * state.
 */
public abstract class Optimizer implements AutoCloseable {

    /**
     * Hyperparameters and factory of an optimizer. To add a custom optimizer, implement this with a
     * record and list it in a {@link dev.saccade.core.components.ComponentProvider}.
     */
    public interface Config extends ComponentConfig {

        /** Returns the learning rate, before schedule and {@link ParameterRule}s are applied. */
        double learningRate();

        /** Returns the weight decay, before {@link ParameterRule}s are applied. */
        double weightDecay();

        default ParamwiseConfig paramwise() {
            return ParamwiseConfig.NONE;
        }

        /** Returns the optimizer for the parameters that are trainable now. */
        Optimizer build(Module module);
    }

    private static final String ONE_GROUP =
            """
            lr = float(torch.select(rates[0], 0, 0))
            weight_decay = float(torch.select(rates[1], 0, 0))
            factor = float(rates[2])
            """;

    private static final String SCALED =
            """
            if factor != 1.0:
              gradients = torch._foreach_mul(gradients, factor)
            """;

    private static final String ALL_GROUPS =
            """
            lr = rates[0]
            weight_decay = rates[1]
            factor = float(rates[2])
            average_decay = float(rates[3])
            """;

    private static final String NO_AVERAGES = "averages = annotate(List[Tensor], [])\n";

    /** libtorch's fused updates expect gradients with the strides of their weights. */
    private static final String SAME_STRIDES =
            """
            for i in range(torch.len(weights)):
              if gradients[i].stride() != weights[i].stride():
                gradients[i] = torch.empty_like(weights[i]).copy_(gradients[i])
            """;

    private final List<ParameterGroup> groups;
    private final NDManager manager;
    private final Map<String, Map<String, NDArray>> states = new LinkedHashMap<>();
    private final Script update;
    private final boolean updatesTogether;
    private final Optional<Script> fusedUpdate;
    private final Optional<Script> fusedUpdateWithAverages;

    /**
     * Creates the optimizer state.
     *
     * @param initialStates functions that return the initial state of a weight, by state name
     * @param update TorchScript lines that change {@code weights} and the state in place, using
     *     {@code gradients}, all of type {@code List[Tensor]}; {@code lr} and {@code weight_decay}
     *     are numbers
     * @param fusedUpdate the same with an operator of {@link Kernels}, for all groups at once:
     *     {@code lr} and {@code weight_decay} are tensors with one element per parameter, gradients
     *     are multiplied by {@code factor} first, and {@code averages}, which may be empty, are
     *     updated with {@code average_decay}
     */
    protected Optimizer(
            Module module,
            Config config,
            Map<String, Function<NDArray, NDArray>> initialStates,
            String update,
            Optional<String> fusedUpdate) {
        this(module, config, initialStates, false, update, fusedUpdate);
    }

    /**
     * Creates the optimizer state of an update that depends on all gradients together.
     *
     * @param update as {@code fusedUpdate} of the other constructor, without averages; gradients
     *     are already multiplied by {@code factor}
     */
    protected Optimizer(
            Module module,
            Config config,
            Map<String, Function<NDArray, NDArray>> initialStates,
            String update) {
        this(module, config, initialStates, true, update, Optional.empty());
    }

    private Optimizer(
            Module module,
            Config config,
            Map<String, Function<NDArray, NDArray>> initialStates,
            boolean updatesTogether,
            String update,
            Optional<String> fusedUpdate) {
        this.updatesTogether = updatesTogether;
        groups = ParameterGroup.split(module, config);
        if (groups.isEmpty()) {
            throw SaccadeException.user(
                    "all parameters of the model are frozen, expected at least one"
                            + " trainable parameter");
        }
        NDArray any = groups.get(0).parameters().values().iterator().next().getArray();
        this.manager = any.getManager().newSubManager();
        manager.setName("optimizer");
        NoGrad.run(
                () -> initialStates.forEach((name, initial) -> states.put(name, state(initial))));
        List<String> stateNames = List.copyOf(states.keySet());
        List<String> withAverages =
                ImmutableList.<String>builder().addAll(stateNames).add("averages").build();
        String inputs = (updatesTogether ? ALL_GROUPS : ONE_GROUP) + SCALED + SAME_STRIDES;
        this.update = compile(stateNames, inputs + update);
        Optional<String> fused =
                fusedUpdate.filter(text -> Kernels.status().loaded()).map(ALL_GROUPS::concat);
        this.fusedUpdate = fused.map(text -> compile(stateNames, NO_AVERAGES + text));
        this.fusedUpdateWithAverages = fused.map(text -> compile(withAverages, text));
    }

    private Map<String, NDArray> state(Function<NDArray, NDArray> start) {
        Map<String, NDArray> arrays = new LinkedHashMap<>();
        parameters().forEach((name, weight) -> arrays.put(name, start.apply(weight.getArray())));
        arrays.values().forEach(array -> array.attach(manager));
        return arrays;
    }

    private static Script compile(List<String> stateNames, String update) {
        String signature =
                Stream.concat(Stream.of("rates", "weights", "gradients"), stateNames.stream())
                        .map(name -> name + ": List[Tensor]")
                        .collect(joining(", ", "(", ") -> Tensor"));
        return Script.compile(signature, update + "return rates[0]").withoutReadCounts();
    }

    /** Returns the trainable parameters by dotted name. */
    public final Map<String, Parameter> parameters() {
        return groups.stream()
                .flatMap(group -> group.parameters().entrySet().stream())
                .collect(toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /**
     * Runs one step. Parameters without a gradient and their state do not change.
     *
     * @param factor multiplies the gradients, such as {@link Gradients.Norms#clipFactor}
     * @param learningRate before {@link ParameterRule}s are applied
     */
    public final void step(Gradients gradients, float factor, double learningRate) {
        step(gradients, factor, learningRate, Update.NONE);
    }

    /** Runs one step and updates averages, also of parameters without a gradient. */
    public final void step(
            Gradients gradients, float factor, double learningRate, Update averages) {
        Optional<Script> fused =
                averages.averages().isEmpty() ? fusedUpdate : fusedUpdateWithAverages;
        boolean isSupported =
                gradients.arrays().values().stream().limit(1).allMatch(Kernels::isFusedFor);
        if (fused.isPresent() && isSupported) {
            run(fused.get(), groups, gradients, factor, learningRate, averages);
            averages.without(gradients.arrays().keySet()).apply();
        } else if (updatesTogether) {
            run(update, groups, gradients, factor, learningRate, Update.NONE);
            averages.apply();
        } else {
            for (ParameterGroup group : groups) {
                run(update, List.of(group), gradients, factor, learningRate, Update.NONE);
            }
            averages.apply();
        }
    }

    private void run(
            Script script,
            List<ParameterGroup> together,
            Gradients gradients,
            float factor,
            double learningRate,
            Update averages) {
        List<String> names = new ArrayList<>();
        List<NDArray> weights = new ArrayList<>();
        List<Double> rates = new ArrayList<>();
        List<Double> decays = new ArrayList<>();
        for (ParameterGroup group : together) {
            for (Map.Entry<String, Parameter> entry : group.parameters().entrySet()) {
                if (gradients.arrays().containsKey(entry.getKey())) {
                    names.add(entry.getKey());
                    weights.add(entry.getValue().getArray());
                    rates.add(learningRate * group.learningRateFactor());
                    decays.add(group.weightDecay());
                }
            }
        }
        if (names.isEmpty()) {
            return;
        }
        try (NDManager scratch = manager.newSubManager(Device.cpu())) {
            List<List<NDArray>> lists = new ArrayList<>();
            lists.add(
                    List.of(
                            scratch.create(Doubles.toArray(rates)),
                            scratch.create(Doubles.toArray(decays)),
                            scratch.create(factor),
                            scratch.create(averages.decay())));
            lists.add(weights);
            lists.add(select(names, gradients.arrays()));
            states.values().forEach(arrays -> lists.add(select(names, arrays)));
            if (!averages.averages().isEmpty()) {
                lists.add(select(names, averages.averages()));
            }
            NoGrad.run(() -> script.runLists(lists));
        }
    }

    private static List<NDArray> select(List<String> names, Map<String, NDArray> arrays) {
        return names.stream().map(arrays::get).toList();
    }

    /** Returns the state by name and parameter, such as {@code exp_avg.conv1.weight}. */
    public final Map<String, NDArray> state() {
        ImmutableMap.Builder<String, NDArray> all = ImmutableMap.builder();
        states.forEach(
                (state, arrays) ->
                        arrays.forEach((name, array) -> all.put(state + "." + name, array)));
        return all.buildOrThrow();
    }

    @Override
    public final void close() {
        manager.close();
    }
}
