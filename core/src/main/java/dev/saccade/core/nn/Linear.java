package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.attention.Affine;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;
import java.util.Optional;

/** {@code x W^T + b} over the last axis; {@code weight} is {@code [out, in]}. */
public final class Linear extends Layer implements Affine {

    private static final ScriptTemplate LINEAR_GELU =
            ScriptTemplate.read(Linear.class, "linear_gelu");

    private final Parameter weight;
    private final Parameter bias;

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

    /** Maps {@code [..., in]} to {@code [..., out]}. */
    @Override
    protected NDArray forward(NDArray x) {
        return Functional.linear(x, weight.getArray(), bias == null ? null : bias.getArray());
    }

    /** Applies the layer and GELU to {@code [..., in]}, fused where possible. */
    public NDArray forwardGelu(NDArray x) {
        Precision precision = Autocast.precision(x.getDevice());
        if (bias == null || precision == Precision.FLOAT16 || !isFused(x)) {
            return Functional.gelu(forward(x));
        }
        Script gelu = LINEAR_GELU.with(Map.of("type", precision == Precision.BFLOAT16 ? 15 : 6));
        return Functional.countedLinear(
                x, weight(), () -> gelu.run(x, weight.getArray(), bias.getArray()));
    }

    /**
     * Returns whether to use the fused operator: only in inference on CPUs with several threads.
     * With a single thread, the layer and GELU run one after the other; in float32, both ways use
     * oneDNN and differ only by rounding.
     */
    private static boolean isFused(NDArray x) {
        return NoGrad.isActive()
                && x.size() > 0
                && JniUtils.getNumThreads() > 1
                && x.getDataType() != DataType.FLOAT64
                && !x.getDevice().isGpu()
                && Kernels.isFusedFor(x);
    }
}
