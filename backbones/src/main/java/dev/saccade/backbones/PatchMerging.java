package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;

/**
 * Patch merging (Liu et al. 2021): normalizes and reduces 2x2 tokens in the order (0, 0), (1, 0),
 * (0, 1), (1, 1) of (row, column). Odd sizes are zero-padded at the bottom and right.
 */
final class PatchMerging extends Layer {

    private static final ScriptTemplate CELLS =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    h = torch.size(x, 1)
                    w = torch.size(x, 2)
                    if {always} or h % 2 + w % 2 > 0:
                      x = torch.constant_pad_nd(x, [0, 0, 0, w % 2, 0, h % 2])
                    cells = torch.reshape(x, [torch.size(x, 0), (h + 1) // 2, 2, (w + 1) // 2, 2, -1])
                    ordered = torch.permute(cells, [0, 1, 3, 4, 2, 5])
                    return torch.reshape(ordered, [torch.size(x, 0), (h + 1) // 2, (w + 1) // 2, -1])
                    """);

    private final LayerNorm norm;
    private final Linear reduction;

    PatchMerging(int channels) {
        norm = add("norm", new LayerNorm(4 * channels));
        reduction = add("reduction", new Linear(4 * channels, 2 * channels, false));
    }

    /** Maps {@code [N, H, W, C]} to {@code [N, ceil(H / 2), ceil(W / 2), 2 C]}. */
    @Override
    protected NDArray forward(NDArray x) {
        return reduction.apply(
                norm.apply(CELLS.with(Map.of("always", Tracer.isRecording())).run(x)));
    }
}
