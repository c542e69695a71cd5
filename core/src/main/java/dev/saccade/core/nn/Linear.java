package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.attention.Affine;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code x W^T + b} over the last axis; {@code weight} is {@code [out, in]}. */
public final class Linear extends Quantizable<FusedLinear> implements Affine {

    private static final ScriptTemplate LINEAR_GELU =
            ScriptTemplate.read(Linear.class, "linear_gelu");

    private final int in;
    private final int out;
    private final Parameter weight;
    private final Parameter bias;
    private boolean isOutput;
    private boolean fuses;
    private Optional<FusedLinear> quantized = Optional.empty();

    /** Creates a layer with transformer initialization: truncated normal (0.02), bias 0. */
    public Linear(int in, int out) {
        this(in, out, true);
    }

    /** Creates a layer with or without bias, with the usual transformer initialization. */
    public Linear(int in, int out, boolean bias) {
        this(in, out, WeightInit.truncatedNormal(0.02), bias ? WeightInit.ZEROS : null);
    }

    /** Creates a layer; without bias if {@code biasInit} is null. */
    public Linear(int in, int out, WeightInit init, WeightInit biasInit) {
        this.in = in;
        this.out = out;
        this.weight = parameter("weight", new Shape(out, in), init);
        this.bias = biasInit == null ? null : parameter("bias", new Shape(out), biasInit);
    }

    /** Returns the weight, {@code [out, in]}. */
    public NDArray weight() {
        return weight.getArray();
    }

    /** Returns the bias, {@code [out]}. */
    @Override
    public Optional<NDArray> bias() {
        return Optional.ofNullable(bias).map(Parameter::getArray);
    }

    /** Excludes this layer, which computes an output of the model, from quantization. */
    public Linear asOutput() {
        isOutput = true;
        return this;
    }

    /** Maps {@code [..., in]} to {@code [..., out]}. */
    @Override
    protected NDArray forward(NDArray x) {
        return forward(x, false, () -> linear(x));
    }

    /** Applies the layer and GELU to {@code [..., in]}, fused where possible. */
    public NDArray forwardGelu(NDArray x) {
        return LayerProfile.run(this, x, () -> forward(x, true, () -> separateGelu(x)));
    }

    private NDArray forward(NDArray x, boolean gelu, Supplier<NDArray> separate) {
        NDArray y =
                quantized
                        .filter(layer -> layer.supports(x))
                        .map(layer -> layer.apply(x, gelu))
                        .orElseGet(separate);
        return Quantization.observe(this, y, other -> other.apply(x, gelu));
    }

    private NDArray linear(NDArray x) {
        return Functional.linear(x, weight.getArray(), bias == null ? null : bias.getArray());
    }

    private NDArray separateGelu(NDArray x) {
        Precision precision = Autocast.precision(x.getDevice());
        if (bias == null || precision == Precision.FLOAT16 || !isFused(x)) {
            return Functional.gelu(linear(x));
        }
        Script gelu = LINEAR_GELU.with(Map.of("type", FusedLayer.type(precision)));
        return Functional.countedLinear(
                x, weight(), () -> gelu.run(x, weight.getArray(), bias.getArray()));
    }

    @Override
    boolean isQuantizable() {
        return !isOutput
                && Math.min(in, out) >= FusedLayer.MIN_CHANNELS
                && in <= FusedLayer.MAX_INT8_PRODUCTS;
    }

    @Override
    boolean isOutput() {
        return isOutput;
    }

    @Override
    FusedLinear quantizedCopy() {
        return new FusedLinear(this);
    }

    /** {@inheritDoc} Packs the weights if the layer is quantized. */
    @Override
    public void fuse() {
        unfuse();
        fuses = true;
        quantized = isQuantized() ? Optional.of(new FusedLinear(this)) : Optional.empty();
    }

    @Override
    protected void unfuse() {
        quantized.ifPresent(FusedLinear::close);
        quantized = Optional.empty();
        fuses = false;
    }

    /**
     * Returns whether to use the fused operator: only in fused models on CPUs. Otherwise,
     * activation checkpointing would compute forward and backward passes differently.
     */
    private boolean isFused(NDArray x) {
        return fuses && Kernels.isFusedForInferenceOnCpu(x);
    }
}
