package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Resizes maps to one another's size, and tables of position embeddings to token maps, by PyTorch's
 * rules without antialiasing (bicubic with a = -0.75); tables without aligned corners.
 */
public final class Interpolation {

    private static final ScriptTemplate RESIZE =
            ScriptTemplate.of(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    size = [torch.size(like, {height}) * {factor}, torch.size(like, {width}) * {factor}]
                    return torch.upsample_{mode}2d(x, size, {align_corners})
                    """);

    private Interpolation() {}

    /**
     * Returns {@code x} at the size of another map, resized linearly along both axes.
     *
     * @param x {@code [N, C, h, w]}
     * @param like {@code [N, D, H, W]}
     * @return {@code [N, C, H, W]}
     */
    public static NDArray resizeTo(NDArray like, NDArray x, boolean alignCorners) {
        return resize(x, like, 2, 1, "bilinear", alignCorners);
    }

    /** Returns {@code [N, C, h, w]} at twice its height and width. */
    public static NDArray upsample2x(NDArray x, boolean alignCorners) {
        return resize(x, x, 2, 2, "bilinear", alignCorners);
    }

    /** Returns the sum of a map and of another that is resized to its size. */
    public static NDArray upsampleAdd(NDArray fine, NDArray coarse, boolean alignCorners) {
        return resizeTo(fine, coarse, alignCorners).addi(fine);
    }

    /**
     * Resizes with cubic convolution.
     *
     * @param x {@code [1, C, h, w]}
     * @param tokens {@code [N, H, W, C]}, whose size is wanted
     * @return {@code [1, H, W, C]}
     */
    public static NDArray bicubic(NDArray x, NDArray tokens) {
        return resize(x, tokens, 1, 1, "bicubic", false).transpose(0, 2, 3, 1);
    }

    /** Resizes linearly along both axes; shapes as for {@link #bicubic}. */
    public static NDArray bilinear(NDArray x, NDArray tokens) {
        return resize(x, tokens, 1, 1, "bilinear", false).transpose(0, 2, 3, 1);
    }

    private static NDArray resize(
            NDArray x,
            NDArray like,
            int heightAxis,
            int factor,
            String mode,
            boolean alignCorners) {
        Map<String, ?> constants =
                Map.of(
                        "height", heightAxis,
                        "width", heightAxis + 1,
                        "factor", factor,
                        "mode", mode,
                        "align_corners", alignCorners);
        return RESIZE.with(constants).run(x, like);
    }
}
