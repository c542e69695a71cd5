package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.Text;
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

    private static final String SIGNATURE = "(x: Tensor, w: Tensor, b: Tensor) -> Tensor";

    private static final String AS_CONVOLUTION =
            """
            maps = x
            if torch.dim(x) != 4:
              maps = torch.reshape(x, [1, 1, -1, torch.size(x, -1)])
            rows = torch.permute(maps, [0, 3, 1, 2])
            kernel = torch.unsqueeze(torch.unsqueeze(w, -1), -1)
            y = %s
            out = torch.permute(y, [0, 2, 3, 1])
            if torch.dim(x) != 4:
              out = torch.reshape(out, torch.slice(torch.size(x), 0, -1) + [torch.size(w, 0)])
            return out
            """;

    /** What oneDNN does without gradients: the activation while the sums are in registers. */
    private static final class Inference {

        private static final ScriptTemplate GELU =
                ScriptTemplate.of(
                        SIGNATURE,
                        Text.format(
                                AS_CONVOLUTION,
                                "ops.mkldnn._convolution_pointwise(torch.to(rows, {type}),"
                                        + " torch.to(kernel, {type}), torch.to(b, {type}),"
                                        + " [0, 0], [1, 1], [1, 1], 1, \"gelu\","
                                        + " annotate(List[Optional[number]], []), \"none\")"));

        static final Script FLOAT32 = GELU.with(Map.of("type", 6));
        static final Script BFLOAT16 = GELU.with(Map.of("type", 15));
    }

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
        Script gelu = precision == Precision.BFLOAT16 ? Inference.BFLOAT16 : Inference.FLOAT32;
        return Functional.countedLinear(
                x, weight(), () -> gelu.run(x, weight.getArray(), bias.getArray()));
    }

    /**
     * Returns whether an array may be given to what has no gradients. With one thread, libtorch
     * convolves small batches without oneDNN, and there would be two sets of numbers.
     */
    private static boolean infers(NDArray x) {
        return NoGrad.holds()
                && x.size() > 0
                && JniUtils.getNumThreads() > 1
                && x.getDataType() != DataType.FLOAT64
                && !x.getDevice().isGpu()
                && Kernels.isFusedFor(x);
    }
}
