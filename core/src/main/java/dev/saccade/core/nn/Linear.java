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

/**
 * {@code x W^T + b} over the last axis; {@code weight} is {@code [out, in]}, {@code bias} is {@code
 * [out]} where there is one.
 */
public final class Linear extends Layer implements Affine {

    private static final ScriptTemplate LINEAR_GELU =
            ScriptTemplate.read(Linear.class, "linear_gelu");

    private final Parameter weight;
    private final Parameter bias;

    /** Makes a layer as transformers start it: truncated normal of 0.02, bias 0. */
    public Linear(int in, int out) {
        this(in, out, true);
    }

    /** Makes a layer with or without bias, as transformers start it. */
    public Linear(int in, int out, boolean bias) {
        this(in, out, WeightInit.truncatedNormal(0.02), bias ? WeightInit.ZEROS : null);
    }

    /**
     * Makes a layer.
     *
     * @param in input channels
     * @param out output channels
     * @param init how the weight starts
     * @param biasInit how the bias starts; null for none
     */
    public Linear(int in, int out, WeightInit init, WeightInit biasInit) {
        this.weight = parameter("weight", new Shape(out, in), init);
        this.bias = biasInit == null ? null : parameter("bias", new Shape(out), biasInit);
    }

    /** Returns the weight, {@code [out, in]}. */
    public NDArray weight() {
        return weight.getArray();
    }

    /** Returns the bias, {@code [out]}, where there is one. */
    @Override
    public Optional<NDArray> bias() {
        return Optional.ofNullable(bias).map(Parameter::getArray);
    }

    /**
     * Maps every vector.
     *
     * @param x {@code [..., in]}
     * @return {@code [..., out]}
     */
    @Override
    protected NDArray forward(NDArray x) {
        return Functional.linear(x, weight.getArray(), bias == null ? null : bias.getArray());
    }

    /**
     * Maps every vector, and takes the GELU of what comes out.
     *
     * @param x {@code [..., in]}
     * @return {@code [..., out]}
     */
    public NDArray forwardGelu(NDArray x) {
        Precision precision = Autocast.precision(x.getDevice());
        if (bias == null || precision == Precision.FLOAT16 || !infers(x)) {
            return Functional.gelu(forward(x));
        }
        Script gelu = LINEAR_GELU.with(Map.of("type", precision == Precision.BFLOAT16 ? 15 : 6));
        return Functional.countedLinear(
                x, weight(), () -> gelu.run(x, weight.getArray(), bias.getArray()));
    }

    /**
     * Returns whether an array may be given to what has no gradients. With one thread, libtorch
     * convolves small batches without oneDNN, and there would be two sets of numbers.
     */
    private static boolean infers(NDArray x) {
        return NoGrad.isActive()
                && x.size() > 0
                && JniUtils.getNumThreads() > 1
                && x.getDataType() != DataType.FLOAT64
                && !x.getDevice().isGpu()
                && Kernels.isFusedFor(x);
    }
}
