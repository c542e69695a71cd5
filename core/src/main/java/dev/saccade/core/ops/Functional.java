package dev.saccade.core.ops;

import static dev.saccade.core.ops.script.Script.call;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Sets;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Operators with PyTorch's names, like {@code torch} and {@code torch.nn.functional}, and
 * differentiable like these. Use DJL's own methods for the rest, such as {@code matMul}, {@code
 * transpose}, {@code sum}, {@code argMax} and {@code stack}.
 *
 * <p>Avoid DJL's methods with {@code Number} parameters, such as {@code mul}, {@code gt} and {@code
 * clip}: they create an array in Java memory, which may be freed too early.
 */
public final class Functional {

    private static final ScriptTemplate FUSED_MAX_POOL =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    "return ops.saccade.max_pool2d(x, {kernel}, {stride}, {padding})");

    private static final ScriptTemplate ADD_LAYER_NORM =
            ScriptTemplate.of(
                    "(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> Tuple[Tensor, Tensor]",
                    "return ops.saccade.add_layer_norm(x, y, weight, bias, {eps})");

    /** Maximum channels per group for which Saccade's float32 grouped convolution is faster. */
    private static final int WIDEST_GROUP = 8;

    /** Types of the fused GELU; UNKNOWN is bfloat16. */
    private static final Set<DataType> GELU_TYPES =
            Sets.immutableEnumSet(DataType.FLOAT32, DataType.UNKNOWN);

    private Functional() {}

    public static NDArray add(NDArray x, double value) {
        return call("torch.add", x, value);
    }

    public static NDArray mul(NDArray x, double value) {
        return call("torch.mul", x, value);
    }

    /** Returns {@code x * y} in the data type of {@code x}. */
    public static NDArray mul(NDArray x, NDArray y) {
        return call("torch.mul", x, typeAs(y, x));
    }

    public static NDArray div(NDArray x, double value) {
        return call("torch.div", x, value);
    }

    public static NDArray clamp(NDArray x, double min) {
        return call("torch.clamp", x, number(x, min));
    }

    public static NDArray clamp(NDArray x, double min, double max) {
        return call("torch.clamp", x, number(x, min), number(x, max));
    }

    public static NDArray minimum(NDArray x, NDArray y) {
        return call("torch.minimum", x, y);
    }

    public static NDArray gt(NDArray x, double value) {
        return call("torch.gt", x, value);
    }

    public static NDArray ge(NDArray x, double value) {
        return call("torch.ge", x, value);
    }

    public static NDArray lt(NDArray x, double value) {
        return call("torch.lt", x, value);
    }

    public static NDArray eq(NDArray x, double value) {
        return call("torch.eq", x, value);
    }

    public static NDArray where(NDArray condition, NDArray x, NDArray y) {
        return call("torch.where", condition, x, y);
    }

    public static NDArray where(NDArray condition, NDArray x, double y) {
        return call("torch.where", condition, x, number(x, y));
    }

    public static NDArray maskedFill(NDArray x, NDArray mask, double value) {
        return call("torch.masked_fill", x, mask, number(x, value));
    }

    /** Returns the number of nonzero values as an int64 scalar. */
    public static NDArray countNonzero(NDArray x) {
        return call("torch.count_nonzero", x);
    }

    public static NDArray to(NDArray x, DataType type) {
        return x.getDataType() == type ? x : call("torch.to", x, Tensors.typeCode(type));
    }

    public static NDArray typeAs(NDArray x, NDArray other) {
        return x.getDataType() == other.getDataType() && x.getDataType() != DataType.UNKNOWN
                ? x
                : call("torch.type_as", x, other);
    }

    /** Returns {@code x} in contiguous (row-major) memory, without a copy if possible. */
    public static NDArray contiguous(NDArray x) {
        return call("torch.contiguous", x);
    }

    public static NDArray clone(NDArray x) {
        return call("torch.clone", x);
    }

    /** Flattens all axes from {@code startDim} on. */
    public static NDArray flatten(NDArray x, int startDim) {
        return call("torch.flatten", x, startDim);
    }

    /** Returns a view of entries {@code start} to {@code end - 1} along axis {@code dim}. */
    public static NDArray slice(NDArray x, int dim, long start, long end) {
        return call("torch.slice", x, dim, start, end);
    }

    public static NDArray indexSelect(NDArray x, int dim, NDArray index) {
        return call("torch.index_select", x, dim, index);
    }

    public static NDArray gather(NDArray x, int dim, NDArray index) {
        return call("torch.gather", x, dim, index);
    }

    /** Zero-pads {@code x}; {@code pad} starts with the last axis. */
    public static NDArray pad(NDArray x, List<? extends Number> pad) {
        return call("torch.constant_pad_nd", x, pad);
    }

    public static NDArray roll(NDArray x, List<? extends Number> shifts, List<Integer> dims) {
        return call("torch.roll", x, shifts, dims);
    }

    public static NDArray flip(NDArray x, List<Integer> dims) {
        return call("torch.flip", x, dims);
    }

    public static NDArray mean(NDArray x, List<Integer> dims, boolean keepdim) {
        return call("torch.mean", x, dims, keepdim);
    }

    /** Averages each channel: {@code [N, C, H, W]} to {@code [N, C, 1, 1]}. */
    public static NDArray globalAvgPool2d(NDArray maps) {
        return mean(maps, List.of(2, 3), true);
    }

    public static NDArray sigmoid(NDArray x) {
        return call("torch.sigmoid", x);
    }

    public static NDArray softmax(NDArray x, int dim) {
        return call("torch.softmax", x, dim);
    }

    public static NDArray relu(NDArray x) {
        return call("torch.relu", x);
    }

    /** Applies ReLU in place; call it only if no gradient needs the input. */
    public static NDArray reluInPlace(NDArray x) {
        return call("torch.relu_", x);
    }

    /** Returns the exact GELU, with the error function. */
    public static NDArray gelu(NDArray x) {
        boolean isFused =
                Kernels.isFusedFor(x)
                        && !x.getDevice().isGpu()
                        && GELU_TYPES.contains(x.getDataType());
        return call(isFused ? "ops.saccade.gelu" : "torch.gelu", x);
    }

    /**
     * Returns {@code x W^T + b}: x is {@code [..., in]}, W {@code [out, in]}, b {@code [out]} or
     * null. For float32 on a CPU, uses oneDNN's 1x1 convolution, which is up to twice as fast as
     * MKL.
     */
    public static NDArray linear(NDArray x, NDArray weight, NDArray bias) {
        String operator =
                Kernels.isFusedForFloat32ProductsOnCpu(x) ? "ops.saccade.linear" : "torch.linear";
        return countedLinear(x, weight, () -> call(operator, x, weight, bias));
    }

    /** Runs a linear operator and counts its multiply-adds. */
    public static NDArray countedLinear(NDArray x, NDArray weight, Supplier<NDArray> operator) {
        long out = weight.getShape().get(0);
        Shape in = x.getShape();
        return MultiplyAdds.run(
                x.size() * out, x, in.slice(0, in.dimension() - 1).add(out), operator);
    }

    /**
     * Convolves with a square kernel.
     *
     * @param x {@code [N, C, H, W]}
     * @param weight {@code [out, C / groups, k, k]}
     * @param bias {@code [out]}; null for none
     * @param padding zeros added on each side
     * @return {@code [N, out, h, w]} with {@code h = (H + 2 padding - dilation (k - 1) - 1) /
     *     stride + 1}
     */
    public static NDArray conv2d(
            NDArray x,
            NDArray weight,
            NDArray bias,
            int stride,
            int padding,
            int dilation,
            int groups) {
        Shape map = x.getShape();
        Shape kernel = weight.getShape();
        Shape result = conv2dShape(map, kernel, stride, padding, dilation);
        boolean isFused =
                result.equals(map)
                        && stride == 1
                        && dilation == 1
                        && isNarrow(kernel.get(1), x.getDataType())
                        && Kernels.isFusedFor(x);
        Supplier<NDArray> operator =
                () -> {
                    if (isFused) {
                        return groupedConvolution(x, weight, bias);
                    }
                    if (SmallMapConvolution.isFaster(x, kernel, result, dilation, groups)) {
                        return SmallMapConvolution.apply(x, weight, bias, stride, padding);
                    }
                    return x.getNDArrayInternal()
                            .convolution(
                                    x,
                                    weight,
                                    bias,
                                    new Shape(stride, stride),
                                    new Shape(padding, padding),
                                    new Shape(dilation, dilation),
                                    groups)
                            .singletonOrThrow();
                };
        return MultiplyAdds.run(result.size() * kernel.slice(1).size(), x, result, operator);
    }

    /** Returns the result shape of {@link #conv2d} for the shapes of input and weight. */
    public static Shape conv2dShape(Shape x, Shape weight, int stride, int padding, int dilation) {
        long reach = dilation * (weight.get(2) - 1);
        return new Shape(
                x.get(0),
                weight.get(0),
                Math.max(0, (x.get(2) + 2L * padding - reach - 1) / stride + 1),
                Math.max(0, (x.get(3) + 2L * padding - reach - 1) / stride + 1));
    }

    /**
     * Returns whether {@link #conv2d} has a fused operator for groups of {@code width} channels: 2,
     * 4 or, except for float64, 8. libtorch is fast for 1.
     */
    public static boolean isNarrow(long width, DataType type) {
        int widest = type == DataType.FLOAT64 ? WIDEST_GROUP / 2 : WIDEST_GROUP;
        return width > 1 && width <= widest && Long.bitCount(width) == 1;
    }

    private static NDArray groupedConvolution(NDArray x, NDArray weight, NDArray bias) {
        NDArray map = x.transpose(0, 2, 3, 1);
        return call("ops.saccade.grouped_convolution", map, weight, bias).transpose(0, 3, 1, 2);
    }

    /** Normalizes over the last axis. */
    public static NDArray layerNorm(NDArray x, NDArray weight, NDArray bias, float eps) {
        if (Kernels.isFusedFor(x)) {
            return call("ops.saccade.layer_norm", x, weight, bias, eps);
        }
        return x.getNDArrayInternal()
                .layerNorm(x, weight.getShape(), weight, bias, eps)
                .singletonOrThrow();
    }

    /** Returns the layer normalization of {@code x + y} over the last axis, and the sum. */
    public static NDList addLayerNorm(
            NDArray x, NDArray y, NDArray weight, NDArray bias, float eps) {
        if (Kernels.isFusedFor(x)) {
            return ADD_LAYER_NORM.with(Map.of("eps", eps)).runAll(x, y, weight, bias);
        }
        NDArray sum = x.add(y);
        return new NDList(layerNorm(sum, weight, bias, eps), sum);
    }

    /** Normalizes each group of channels of {@code [N, C, ...]}. */
    public static NDArray groupNorm(
            NDArray x, int groups, NDArray weight, NDArray bias, double eps) {
        return call("torch.group_norm", x, groups, weight, bias, eps);
    }

    /** Averages {@code [N, C, H, W]} to {@code [N, C, size, size]}. */
    public static NDArray adaptiveAvgPool2d(NDArray x, int size) {
        return call("torch.adaptive_avg_pool2d", x, List.of(size, size));
    }

    /**
     * Returns the maxima of square windows of {@code [N, C, H, W]}; NaN if a window contains NaN.
     */
    public static NDArray maxPool2d(NDArray x, int kernel, int stride, int padding) {
        if (Kernels.isFusedForInferenceOnCpu(x)) {
            return FUSED_MAX_POOL
                    .with(Map.of("kernel", kernel, "stride", stride, "padding", padding))
                    .run(x);
        }
        Shape border = new Shape(padding, padding);
        return x.getNDArrayInternal()
                .maxPool(new Shape(kernel, kernel), new Shape(stride, stride), border, false);
    }

    /** Rearranges {@code [N, C, H, W]} to {@code [N, C / r^2, r H, r W]} for factor r. */
    public static NDArray pixelShuffle(NDArray x, int upscaleFactor) {
        return call("torch.pixel_shuffle", x, upscaleFactor);
    }

    /** Returns the weighted sum of the losses. */
    public static NDArray binaryCrossEntropyWithLogits(
            NDArray logits, NDArray targets, NDArray weights) {
        return call("torch.binary_cross_entropy_with_logits", logits, targets, weights, null, 2);
    }

    private static Number number(NDArray x, double value) {
        return x.getDataType().isFloating() || x.getDataType() == DataType.UNKNOWN
                ? (Number) value
                : (Number) Math.round(value);
    }
}
