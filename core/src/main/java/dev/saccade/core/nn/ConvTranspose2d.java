package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.ScriptTemplate;

import java.util.Map;

/**
 * A transposed 2-D convolution that enlarges maps: stride as large as the kernel, so that every
 * cell becomes a square of cells; {@code weight} is {@code [in, out, k, k]}, {@code bias} is {@code
 * [out]}.
 */
public final class ConvTranspose2d extends Layer {

    private static final ScriptTemplate SCRIPT =
            ScriptTemplate.of(
                            "(x: Tensor, w: Tensor, b: Tensor) -> Tensor",
                            "return torch.conv_transpose2d(x, w, b, [{stride}, {stride}])")
                    .counting((in, y) -> in.get(0).size() * in.get(1).getShape().slice(1).size());

    private final int kernel;
    private final Parameter weight;
    private final Parameter bias;

    /**
     * Makes a layer with a bias of 0.
     *
     * @param in input channels
     * @param out output channels
     * @param kernel how many times larger the maps become
     * @param init how the weight starts
     */
    public ConvTranspose2d(int in, int out, int kernel, WeightInit init) {
        this.kernel = kernel;
        this.weight = parameter("weight", new Shape(in, out, kernel, kernel), init);
        this.bias = parameter("bias", new Shape(out), WeightInit.ZEROS);
    }

    /**
     * Enlarges.
     *
     * @param x {@code [N, in, H, W]}
     * @return {@code [N, out, kH, kW]}
     */
    @Override
    public NDArray forward(NDArray x) {
        return SCRIPT.with(Map.of("stride", kernel)).run(x, weight.getArray(), bias.getArray());
    }
}
