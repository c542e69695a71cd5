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
                    size = [torch.size(like, 1), torch.size(like, 2)]
                    return torch.permute(torch.upsample_{mode}2d(x, size, False), [0, 2, 3, 1])
                    """);

    private static final ScriptTemplate TO_SIZE_OF =
            ScriptTemplate.of(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    size = [torch.size(like, 2), torch.size(like, 3)]
                    return torch.upsample_bilinear2d(x, size, {align_corners})
                    """);

    private static final ScriptTemplate DOUBLED =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    size = [2 * torch.size(x, 2), 2 * torch.size(x, 3)]
                    return torch.upsample_bilinear2d(x, size, {align_corners})
                    """);

    private static final ScriptTemplate SUM =
            ScriptTemplate.of(
                    "(fine: Tensor, coarse: Tensor) -> Tensor",
                    """
                    size = [torch.size(fine, 2), torch.size(fine, 3)]
                    return torch.add_(torch.upsample_bilinear2d(coarse, size, {align_corners}), fine)
                    """);

    private Interpolation() {}

    /**
     * Returns {@code x} at the size of another map, resized linearly along both axes.
     *
     * @param x {@code [N, C, h, w]}
     * @param like {@code [N, D, H, W]}
     * @return {@code [N, C, H, W]}
     */
    public static NDArray toSizeOf(NDArray like, NDArray x, boolean alignCorners) {
        return TO_SIZE_OF.with(Map.of("align_corners", alignCorners)).run(x, like);
    }

    /** Returns {@code [N, C, h, w]} at twice its height and width. */
    public static NDArray doubled(NDArray x, boolean alignCorners) {
        return DOUBLED.with(Map.of("align_corners", alignCorners)).run(x);
    }

    /** Returns the sum of a map and of another that is resized to its size. */
    public static NDArray sum(NDArray fine, NDArray coarse, boolean alignCorners) {
        return SUM.with(Map.of("align_corners", alignCorners)).run(fine, coarse);
    }

    /**
     * Resizes with cubic convolution.
     *
     * @param x {@code [1, C, h, w]}
     * @param tokens {@code [N, H, W, C]}, whose size is wanted
     * @return {@code [1, H, W, C]}
     */
    public static NDArray bicubic(NDArray x, NDArray tokens) {
        return RESIZE.with(Map.of("mode", "bicubic")).run(x, tokens);
    }

    /** Resizes linearly along both axes; shapes as for {@link #bicubic}. */
    public static NDArray bilinear(NDArray x, NDArray tokens) {
        return RESIZE.with(Map.of("mode", "bilinear")).run(x, tokens);
    }
}
