package dev.saccade.train.optimizers;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

import static java.util.stream.Collectors.joining;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.Script;
import dev.saccade.core.parts.PartConfig;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Changes the learned parameters of a module in place by their gradients; keeps a state array of
 * each kind for each parameter.
 *
 * <p>Not thread-safe. {@link #close} frees the state.
 */
public abstract class Optimizer implements AutoCloseable {

    /** The hyper-parameters of an optimiser, and what builds it. */
    public interface Config extends PartConfig {

        /** Returns the learning rate before schedule and parameter rules. */
        double learningRate();

        /** Returns the parameters of a module that are learned now, by how they are changed. */
        List<ParameterGroup> groups(Module module);

        /** Returns the optimiser for the parameters of a module that are learned now. */
        Optimizer build(Module module);
    }

    /** Fused operators walk through memory, so a gradient must lie there as its weight does. */
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

    /**
     * Makes an optimiser.
     *
     * @param groups what it changes
     * @param starts what gives the first value of each kind of state for a weight
     * @param update lines of TorchScript that change {@code weights} and the kinds of state in
     *     place, but not {@code gradients}, all of type {@code List[Tensor]}; {@code lr} and {@code
     *     weight_decay} are numbers
     */
    protected Optimizer(
            List<ParameterGroup> groups,
            Map<String, Function<NDArray, NDArray>> starts,
            String update) {
        if (groups.isEmpty()) {
            throw SaccadeException.user(
                    "there is nothing to learn: every parameter of the model is frozen");
        }
        this.groups = groups;
        NDArray any = groups.get(0).parameters().values().iterator().next().getArray();
        this.manager = any.getManager().newSubManager();
        manager.setName("optimizer");
        starts.forEach((kind, start) -> states.put(kind, state(start)));
        this.update = compile(states.keySet(), update);
    }

    private Map<String, NDArray> state(Function<NDArray, NDArray> start) {
        Map<String, NDArray> arrays = new LinkedHashMap<>();
        NoGrad.run(
                () ->
                        parameters()
                                .forEach(
                                        (name, parameter) -> {
                                            NDArray array = start.apply(parameter.getArray());
                                            array.attach(manager);
                                            arrays.put(name, array);
                                        }));
        return arrays;
    }

    private static Script compile(Set<String> kinds, String update) {
        String signature =
                Stream.concat(Stream.of("rates", "weights", "gradients"), kinds.stream())
                        .map(name -> name + ": List[Tensor]")
                        .collect(joining(", ", "(", ") -> Tensor"));
        return Script.compile(
                signature,
                "lr = float(rates[0])\nweight_decay = float(rates[1])\n"
                        + SAME_STRIDES
                        + update
                        + "return rates[0]");
    }

    /** Returns the parameters that are learned, by dotted names. */
    public final Map<String, Parameter> parameters() {
        return groups.stream()
                .flatMap(group -> group.parameters().entrySet().stream())
                .collect(toImmutableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /**
     * Takes one step; a parameter without a gradient, and its state, stay as they are.
     *
     * @param learningRate the learning rate of this step, before the rules for parameters
     */
    public final void step(Gradients gradients, double learningRate) {
        NoGrad.run(() -> groups.forEach(group -> step(group, gradients, learningRate)));
    }

    private void step(ParameterGroup group, Gradients gradients, double learningRate) {
        List<String> names =
                group.parameters().keySet().stream()
                        .filter(gradients.arrays()::containsKey)
                        .toList();
        if (names.isEmpty()) {
            return;
        }
        try (NDManager scratch = manager.newSubManager(Device.cpu())) {
            List<List<NDArray>> lists = new ArrayList<>();
            lists.add(
                    List.of(
                            scratch.create(learningRate * group.learningRateFactor()),
                            scratch.create(group.weightDecay())));
            lists.add(select(names, name -> group.parameters().get(name).getArray()));
            lists.add(select(names, gradients.arrays()::get));
            states.values().forEach(arrays -> lists.add(select(names, arrays::get)));
            update.runLists(lists);
        }
    }

    private static List<NDArray> select(List<String> names, Function<String, NDArray> array) {
        return names.stream().map(array).toList();
    }

    /** Returns the state by {@code kind.parameter}, such as {@code exp_avg.conv1.weight}. */
    public final Map<String, NDArray> state() {
        ImmutableMap.Builder<String, NDArray> all = ImmutableMap.builder();
        states.forEach(
                (kind, arrays) ->
                        arrays.forEach((name, array) -> all.put(kind + "." + name, array)));
        return all.buildOrThrow();
    }

    @Override
    public final void close() {
        manager.close();
    }
}
