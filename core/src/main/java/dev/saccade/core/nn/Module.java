package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBaseBlock;
import ai.djl.nn.BlockList;
import ai.djl.nn.Parameter;
import ai.djl.nn.ParameterList;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.util.PairList;

import com.google.common.collect.Maps;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.ops.memory.MemoryFormat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * A tree of named parameters, buffers and child modules: a DJL block with PyTorch's names and
 * PyTorch's training mode.
 *
 * <p>Parameters live on one device, that of the manager they were initialized with. The mode is
 * state of the module, so a module that one thread trains must not predict in another.
 */
public abstract class Module extends AbstractBaseBlock {

    private final Map<String, Declared> declared = new LinkedHashMap<>();
    private final Map<Module, String> children = new LinkedHashMap<>();
    private boolean training = true;
    private Module parent;

    private record Declared(Parameter parameter, WeightInit init) {}

    /**
     * Adds a child.
     *
     * @param name its name, such as {@code conv1} or, for a member of a list, {@code layer1.0};
     *     empty for children whose parameters carry full names
     * @param child the child
     * @return the child
     * @throws IllegalArgumentException if another child has the name, or the child a parent
     */
    protected final <M extends Module> M add(String name, M child) {
        Module module = child;
        checkArgument(module.parent == null, "%s: already has a parent", name);
        checkArgument(name.isEmpty() || !children.containsValue(name), "duplicate child %s", name);
        module.parent = this;
        children.put(child, name);
        return child;
    }

    /**
     * Returns the dotted name under which this module stands in the model that it is part of, such
     * as {@code backbone.layer1.0}; empty for the model itself.
     */
    public final String path() {
        if (parent == null) {
            return "";
        }
        String above = parent.path();
        String name = parent.children.get(this);
        return above.isEmpty() || name.isEmpty() ? above + name : above + "." + name;
    }

    /** Adds a parameter that is learned. */
    protected final Parameter parameter(String name, Shape shape, WeightInit init) {
        return declare(name, shape, init, Parameter.Type.OTHER, true);
    }

    /** Adds a buffer: saved with the parameters, never learned. */
    protected final Parameter buffer(String name, Shape shape, WeightInit init) {
        return declare(name, shape, init, Parameter.Type.RUNNING_MEAN, false);
    }

    /** Creates an optional child or parameter: {@code when(hasBias, () -> parameter(...))}. */
    protected static <T> Optional<T> when(boolean present, Supplier<T> create) {
        return present ? Optional.of(create.get()) : Optional.empty();
    }

    private Parameter declare(
            String name, Shape shape, WeightInit init, Parameter.Type type, boolean learned) {
        // DJL takes an array whose name has a dot for the entry of a dictionary.
        checkArgument(!name.contains("."), "parameter %s: the name must not contain a dot", name);
        Parameter parameter =
                Parameter.builder()
                        .setName(name)
                        .setType(type)
                        .optShape(shape)
                        .optRequiresGrad(learned)
                        .build();
        Declared before = declared.put(name, new Declared(parameter, init));
        checkArgument(before == null, "duplicate parameter %s", name);
        return parameter;
    }

    /** Returns whether a parameter is a buffer, such as a running mean. */
    public static boolean isBuffer(Parameter parameter) {
        return parameter.getType() == Parameter.Type.RUNNING_MEAN;
    }

    /**
     * Returns all parameters and buffers below this module by their dotted names, such as {@code
     * layer1.0.conv1.weight}, in the order of their declaration.
     */
    public final Map<String, Parameter> namedParameters() {
        return new LinkedHashMap<>(Maps.transformValues(declaredBelow(), Declared::parameter));
    }

    private Map<String, Declared> declaredBelow() {
        Map<String, Declared> all = new LinkedHashMap<>(declared);
        for (Map.Entry<Module, String> child : children.entrySet()) {
            String prefix = child.getValue().isEmpty() ? "" : child.getValue() + ".";
            for (Map.Entry<String, Declared> each : child.getKey().declaredBelow().entrySet()) {
                String name = prefix + each.getKey();
                checkArgument(
                        all.put(name, each.getValue()) == null, "duplicate parameter %s", name);
            }
        }
        return all;
    }

    /** Returns the number of values of all parameters below this module, buffers not counted. */
    public final long parameterCount() {
        return namedParameters().values().stream()
                .filter(parameter -> !isBuffer(parameter))
                .mapToLong(parameter -> parameter.getShape().size())
                .sum();
    }

    /**
     * Gives every parameter below this module its initial value, a function of the seed and of the
     * parameter's dotted name alone; parameters that have a value keep it.
     *
     * @param manager owns the arrays and gives the device
     */
    public final void initialize(NDManager manager, long seed) {
        initialize(manager, seed, Map.of());
    }

    /**
     * Gives every parameter below this module its initial value, as {@link #initialize(NDManager,
     * long)}, but some of them another one than their own.
     *
     * @param others how these parameters start, by their dotted names
     */
    public final void initialize(NDManager manager, long seed, Map<String, WeightInit> others) {
        for (Map.Entry<String, Declared> each : declaredBelow().entrySet()) {
            SplittableRandom random = SeededRandom.of(seed, each.getKey());
            WeightInit init = others.getOrDefault(each.getKey(), each.getValue().init);
            initialize(
                    each.getValue().parameter,
                    manager,
                    (owner, shape, type) -> firstValues(init, owner, shape, random));
        }
    }

    /**
     * Sets every parameter below this module to 0. Each parameter takes the memory of one value and
     * must not be changed; this is enough to count multiply-adds.
     */
    public final void initializeZeros(NDManager manager) {
        for (Parameter parameter : namedParameters().values()) {
            initialize(
                    parameter,
                    manager,
                    (owner, shape, type) -> owner.zeros(new Shape(), type).broadcast(shape));
        }
    }

    private static void initialize(Parameter parameter, NDManager manager, Initializer values) {
        parameter.setInitializer(values);
        parameter.initialize(manager, DataType.FLOAT32);
    }

    private static NDArray firstValues(
            WeightInit init, NDManager owner, Shape shape, SplittableRandom random) {
        NDArray values = init.create(owner, shape, random);
        if (shape.dimension() != 4) {
            return values;
        }
        try (values) {
            return MemoryFormat.channelsLast(values);
        }
    }

    /** Stops learning of every parameter below this module. */
    public final void freeze() {
        namedParameters().values().stream()
                .filter(parameter -> !isBuffer(parameter))
                .forEach(parameter -> parameter.freeze(true));
    }

    /**
     * Switches this module and everything below it between training and inference.
     *
     * <p>A module that stays in inference mode while it is trained, such as a frozen stage,
     * overrides this.
     */
    public void train(boolean mode) {
        training = mode;
        children.keySet().forEach(child -> child.train(mode));
    }

    /**
     * Returns whether something below this module, in the mode that it is in, computes together
     * with all ranks, so that each of them must run it as often as the others.
     */
    public boolean synchronizes() {
        return children.keySet().stream().anyMatch(Module::synchronizes);
    }

    /** Returns whether this module is in training mode, as it is when made. */
    public final boolean isTraining() {
        return training;
    }

    /**
     * The forward pass through DJL's door, for those who hold this module as a DJL block.
     *
     * @param inputs what the typed {@code forward} of the module takes
     */
    public abstract NDList call(NDList inputs);

    @Override
    protected final NDList forwardInternal(
            ParameterStore parameterStore,
            NDList inputs,
            boolean forTraining,
            PairList<String, Object> params) {
        if (forTraining != training) {
            train(forTraining);
        }
        return call(inputs);
    }

    @Override
    public final void initialize(NDManager manager, DataType dataType, Shape... inputShapes) {
        beforeInitialize(inputShapes);
        initialize(manager, 0);
    }

    @Override
    public final boolean isInitialized() {
        return namedParameters().values().stream().allMatch(Parameter::isInitialized);
    }

    @Override
    public final ParameterList getDirectParameters() {
        ParameterList list = new ParameterList();
        declared.forEach((name, each) -> list.add(name, each.parameter));
        return list;
    }

    /** Returns all parameters by dotted names, where DJL's own blocks join them by underscores. */
    @Override
    public final ParameterList getParameters() {
        ParameterList list = new ParameterList();
        namedParameters().forEach(list::add);
        return list;
    }

    @Override
    public final BlockList getChildren() {
        BlockList list = new BlockList();
        children.forEach((child, name) -> list.add(name, child));
        return list;
    }

    @Override
    public final Shape[] getOutputShapes(Shape[] inputShapes) {
        throw new UnsupportedOperationException(
                "output shapes are unknown before forward; call forward instead");
    }
}
