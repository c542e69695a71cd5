package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;
import dev.saccade.core.structures.Size;

import java.util.Map;

/** Resizes like PyTorch's {@code interpolate} without antialiasing (bicubic with a = -0.75). */
public final class Interpolation {

    private static final ScriptTemplate RESIZE =
            ScriptTemplate.of(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    size = [torch.size(like, {height}) * {factor}, torch.size(like, {width}) * {factor}]
                    return torch.upsample_{mode}2d(x, size, {align_corners})
                    """);

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor",
                    """
                    map = torch.contiguous(torch.permute(x, [0, 2, 3, 1]))
                    resized = ops.saccade.bilinear_resize(map, rows, columns)
                    return torch.permute(resized, [0, 3, 1, 2])
                    """);

    private Interpolation() {}

    /** Resizes {@code x [N, C, h, w]} bilinearly to the size of {@code like [N, D, H, W]}. */
    public static NDArray resizeTo(NDArray like, NDArray x, boolean alignCorners) {
        Size size = size(like);
        return isFused(x)
                ? fused(x, size, alignCorners)
                : resize(x, like, 2, 1, "bilinear", alignCorners);
    }

    /** Doubles height and width of {@code [N, C, h, w]} bilinearly. */
    public static NDArray upsample2x(NDArray x, boolean alignCorners) {
        Size size = size(x);
        return isFused(x)
                ? fused(x, new Size(2 * size.height(), 2 * size.width()), alignCorners)
                : resize(x, x, 2, 2, "bilinear", alignCorners);
    }

    /** Returns {@code fine} plus {@code coarse} resized bilinearly to the size of {@code fine}. */
    public static NDArray upsampleAdd(NDArray fine, NDArray coarse, boolean alignCorners) {
        if (size(fine).equals(size(coarse)) && !Tracer.isRecording()) {
            return fine.add(coarse);
        }
        return resizeTo(fine, coarse, alignCorners).addi(fine);
    }

    private static Size size(NDArray map) {
        return new Size((int) map.getShape().get(2), (int) map.getShape().get(3));
    }

    private static boolean isFused(NDArray x) {
        return Kernels.isFusedForInferenceOnCpu(x) && !Tracer.isRecording();
    }

    private static NDArray fused(NDArray x, Size to, boolean alignCorners) {
        BilinearResize resize = new BilinearResize(size(x), to, alignCorners);
        NDArray rows = resize.rows(0, to.height()).wholePositions(x);
        NDArray columns = resize.columns(0, to.width()).wholePositions(x);
        return FUSED.with(Map.of()).run(x, rows, columns);
    }

    /**
     * Resizes a position embedding {@code [1, C, h, w]} to the size of {@code [N, H, W, C]} tokens;
     * returns {@code [1, H, W, C]}.
     */
    public static NDArray bicubic(NDArray x, NDArray tokens) {
        return resize(x, tokens, 1, 1, "bicubic", false).transpose(0, 2, 3, 1);
    }

    /** Resizes a position embedding bilinearly; shapes as for {@link #bicubic}. */
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
