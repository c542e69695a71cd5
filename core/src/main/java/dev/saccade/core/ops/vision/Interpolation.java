package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

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

    private Interpolation() {}

    /** Resizes {@code x [N, C, h, w]} bilinearly to the size of {@code like [N, D, H, W]}. */
    public static NDArray resizeTo(NDArray like, NDArray x, boolean alignCorners) {
        return resize(x, like, 2, 1, "bilinear", alignCorners);
    }

    /** Doubles height and width of {@code [N, C, h, w]} bilinearly. */
    public static NDArray upsample2x(NDArray x, boolean alignCorners) {
        return resize(x, x, 2, 2, "bilinear", alignCorners);
    }

    /** Returns {@code fine} plus {@code coarse} resized bilinearly to the size of {@code fine}. */
    public static NDArray upsampleAdd(NDArray fine, NDArray coarse, boolean alignCorners) {
        if (haveEqualSizes(fine, coarse) && !Tracer.isRecording()) {
            return fine.add(coarse);
        }
        return resizeTo(fine, coarse, alignCorners).addi(fine);
    }

    private static boolean haveEqualSizes(NDArray one, NDArray other) {
        Shape a = one.getShape();
        Shape b = other.getShape();
        return a.get(2) == b.get(2) && a.get(3) == b.get(3);
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
