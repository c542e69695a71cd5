package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;

/**
 * Resizes tables of position embeddings to token maps, by PyTorch's rules without aligned corners
 * and without antialiasing (bicubic with a = -0.75).
 */
public final class Interpolation {

    private static final ScriptTemplate RESIZE =
            ScriptTemplate.of(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    size = [torch.size(like, 1), torch.size(like, 2)]
                    return torch.permute(torch.upsample_%s2d(x, size, False), [0, 2, 3, 1])
                    """);

    private Interpolation() {}

    /**
     * Resizes with cubic convolution.
     *
     * @param x {@code [1, C, h, w]}
     * @param tokens {@code [N, H, W, C]}, whose size is wanted
     * @return {@code [1, H, W, C]}
     */
    public static NDArray bicubic(NDArray x, NDArray tokens) {
        return RESIZE.with("bicubic").run(x, tokens);
    }

    /** Resizes linearly along both axes; shapes as for {@link #bicubic}. */
    public static NDArray bilinear(NDArray x, NDArray tokens) {
        return RESIZE.with("bilinear").run(x, tokens);
    }
}
