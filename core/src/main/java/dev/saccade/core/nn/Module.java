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
 * A tree of parameters, buffers and child modules, like {@code torch.nn.Module}: a DJL block with
 * PyTorch's parameter names and training mode.
 *
 * <p>The training mode is part of the module's state, so do not train a module in one thread while
 * another uses it for inference.
 */
public abstract class Module extends AbstractBaseBlock {

    private final Map<String, Declared> declared = new LinkedHashMap<>();
    private final Map<Module, String> children = new LinkedHashMap<>();
    private boolean training = true;
    private Module parent;

    private record Declared(Parameter parameter, WeightInit init) {}

    /**
     * Adds a child and returns it.
     *
     * @param name such as {@code conv1}, or {@code layer1.0} for a member of a list; empty to add
     *     no prefix to the parameter names of the child
     */
    protected final <M extends Module> M add(String name, M child) {
        Module module = child;
        checkArgument(module.parent == null, "%s: already has a parent", name);
        checkArgument(name.isEmpty() || !children.containsValue(name), "duplicate child %s", name);
        module.parent = this;
        children.put(child, name);
        return child;
    }

    /** Returns the dotted name of this module in its model, such as {@code backbone.layer1.0}. */
    public final String path() {
        if (parent == null) {
            return "";
        }
        String above = parent.path();
        String name = parent.children.get(this);
        return above.isEmpty() || name.isEmpty() ? above + name : above + "." + name;
    }

    /** Returns the module that this one was added to; null for a root. */
    final Module parent() {
        return parent;
    }

    /** Returns all modules below this one by dotted name. Modules without a name are omitted. */
    public final Map<String, Module> namedModules() {
        Map<String, Module> all = new LinkedHashMap<>();
        for (Map.Entry<Module, String> child : children.entrySet()) {
            String name = child.getValue();
            String prefix = name.isEmpty() ? "" : name + ".";
            if (!name.isEmpty()) {
                all.put(name, child.getKey());
            }
            child.getKey()
                    .namedModules()
                    .forEach((below, module) -> all.put(prefix + below, module));
        }
        return all;
    }

    /** Adds a trainable parameter. */
    protected final Parameter parameter(String name, Shape shape, WeightInit init) {
        return declare(name, shape, init, Parameter.Type.OTHER, true);
    }

    /** Adds a buffer: saved with the parameters, but not trained. */
    protected final Parameter buffer(String name, Shape shape, WeightInit init) {
        return declare(name, shape, init, Parameter.Type.RUNNING_MEAN, false);
    }

    /** Creates an optional child or parameter: {@code when(hasBias, () -> parameter(...))}. */
    protected static <T> Optional<T> when(boolean present, Supplier<T> create) {
        return present ? Optional.of(create.get()) : Optional.empty();
    }

    private Parameter declare(
            String name, Shape shape, WeightInit init, Parameter.Type type, boolean trainable) {
        // DJL treats an array with a dot in its name as a dictionary entry.
        checkArgument(!name.contains("."), "parameter %s: the name must not contain a dot", name);
        Parameter parameter =
                Parameter.builder()
                        .setName(name)
                        .setType(type)
                        .optShape(shape)
                        .optRequiresGrad(trainable)
                        .build();
        Declared before = declared.put(name, new Declared(parameter, init));
        checkArgument(before == null, "duplicate parameter %s", name);
        return parameter;
    }

    /** Replaces an uninitialized parameter by one of another shape; keeps its initializer. */
    final Parameter reshape(String name, Shape shape) {
        return declare(
                name,
                shape,
                declared.remove(name).init,
                Parameter.Type.OTHER,
                /* trainable= */ true);
    }

    /** Returns whether a parameter is a buffer, such as a running mean. */
    public static boolean isBuffer(Parameter parameter) {
        return parameter.getType() == Parameter.Type.RUNNING_MEAN;
    }

    /** Returns all parameters and buffers by dotted name, such as {@code layer1.0.conv1.weight}. */
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

    /** Returns the number of elements of all parameters, without buffers. */
    public final long parameterCount() {
        return namedParameters().values().stream()
                .filter(parameter -> !isBuffer(parameter))
                .mapToLong(parameter -> parameter.getShape().size())
                .sum();
    }

    /**
     * Initializes all parameters that have no values yet, on the device of the manager. Values
     * depend only on the seed and the parameter's dotted name.
     */
    public final void initialize(NDManager manager, long seed) {
        initialize(manager, seed, Map.of());
    }

    /** Initializes all parameters; {@code others} overrides initializers by dotted name. */
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
     * Initializes all parameters with 0, for counting multiply-adds. Each parameter uses the memory
     * of a single value and must not be changed.
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

    /** Freezes all parameters. */
    public final void freeze() {
        namedParameters().values().stream()
                .filter(parameter -> !isBuffer(parameter))
                .forEach(parameter -> parameter.freeze(true));
    }

    /**
     * Switches between training and inference. Modules that stay in inference mode during training,
     * such as frozen stages, override this.
     */
    public void train(boolean mode) {
        training = mode;
        if (mode) {
            unfuse();
        }
        children.keySet().forEach(child -> child.train(mode));
    }

    /**
     * Fuses operations for inference, such as a convolution and batch normalization. Results change
     * only by rounding. Parameters keep their values and names, and training undoes the fusion.
     */
    public void fuse() {
        children.keySet().forEach(Module::fuse);
    }

    /** Undoes {@link #fuse}; the parameters may change afterwards. */
    protected void unfuse() {
        children.keySet().forEach(Module::unfuse);
    }

    /** Returns whether any layer uses collectives, which all ranks must call equally often. */
    public boolean synchronizes() {
        return children.keySet().stream().anyMatch(Module::synchronizes);
    }

    /** Returns whether this module is in training mode, which is the default. */
    public final boolean isTraining() {
        return training;
    }

    /** Runs the forward pass through DJL's {@code Block} interface. */
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

    /** Returns all parameters by dotted name; DJL's own blocks use underscores. */
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
