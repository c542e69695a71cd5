package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;

/**
 * Convolution as one matrix product, for small maps and large weights in training on CPUs.
 *
 * <p>oneDNN (in libtorch 2.7.1) adds up the gradient of the weights image by image. Weights larger
 * than the cache are then read and written for each image, which takes longer than all other
 * products if the maps have few cells.
 */
final class SmallMapConvolution {

    private static final int MAX_CELLS = 16;
    private static final int MIN_WEIGHTS = 1 << 20;

    /** Keeps the channels last in memory, from input to result. */
    private static final ScriptTemplate PRODUCT =
            ScriptTemplate.of(
                    "(x: Tensor, weight: Tensor) -> Tensor",
                    """
                    k = weight.size(2)
                    padded = torch.constant_pad_nd(
                        x.permute([0, 2, 3, 1]),
                        [0, 0, {padding}, {padding}, {padding}, {padding}], 0)
                    patches = padded.unfold(1, k, {stride}).unfold(2, k, {stride})
                    rows = patches.permute([0, 1, 2, 4, 5, 3]).reshape([-1, k * k * x.size(1)])
                    columns = weight.permute([0, 2, 3, 1]).reshape([weight.size(0), -1])
                    y = torch.linear(rows, columns)
                    shape = [x.size(0), patches.size(1), patches.size(2), weight.size(0)]
                    return y.reshape(shape).permute([0, 3, 1, 2])
                    """);

    private SmallMapConvolution() {}

    /** Returns whether the matrix product is faster, given the shape of the result. */
    static boolean isFaster(NDArray x, Shape weight, Shape result, int dilation, int groups) {
        return weight.get(2) > 1
                && weight.get(2) == weight.get(3)
                && weight.size() >= MIN_WEIGHTS
                && result.get(2) * result.get(3) <= MAX_CELLS
                && result.size() > 0
                && dilation == 1
                && groups == 1
                && x.getDataType() == DataType.FLOAT32
                && !x.getDevice().isGpu()
                && !NoGrad.isActive()
                && !Tracer.isRecording();
    }

    static NDArray apply(NDArray x, NDArray weight, NDArray bias, int stride, int padding) {
        NDArray y = PRODUCT.with(Map.of("stride", stride, "padding", padding)).run(x, weight);
        return bias == null ? y : y.add(bias.reshape(1, -1, 1, 1));
    }
}
