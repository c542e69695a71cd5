package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.vision.Interpolation;

/**
 * Patch embedding with learned position embeddings, as in PVT.
 *
 * <p>The table is resized bilinearly to other map sizes. As in the official code, the table of the
 * first stage is used without resizing for any map with the same number of tokens.
 */
final class PositionedPatchEmbed extends Layer {

    private final boolean isFirst;
    private final boolean hasClassToken;
    private final int side;
    private final PatchEmbed patches;
    private final Parameter table;

    /**
     * Creates the layers {@code patch_embed<stage + 1>} and {@code pos_embed<stage + 1>}.
     *
     * @param side tokens along a side of the position table
     * @param hasClassToken whether the table starts with the position of a class token
     */
    PositionedPatchEmbed(
            int stage, PatchEmbed patches, int channels, int side, boolean hasClassToken) {
        isFirst = stage == 0;
        this.side = side;
        this.hasClassToken = hasClassToken;
        this.patches = add("patch_embed" + (stage + 1), patches);
        table =
                parameter(
                        "pos_embed" + (stage + 1),
                        new Shape(1, side * side + (hasClassToken ? 1 : 0), channels),
                        WeightInit.truncatedNormal(0.02));
    }

    /** Embeds images {@code [N, 3, H, W]} in the first stage, else tokens {@code [N, H, W, C]}. */
    @Override
    protected NDArray forward(NDArray x) {
        NDArray tokens = patches.apply(isFirst ? x : x.transpose(0, 3, 1, 2));
        return tokens.add(positions(tokens));
    }

    private NDArray positions(NDArray tokens) {
        NDArray rows = table.getArray();
        NDArray cells = hasClassToken ? rows.get(":, 1:") : rows;
        long height = tokens.getShape().get(1);
        long width = tokens.getShape().get(2);
        if (isFirst && height * width == cells.getShape().get(1)) {
            return cells.reshape(1, height, width, -1);
        }
        return Interpolation.bilinear(
                cells.reshape(1, side, side, -1).transpose(0, 3, 1, 2), tokens);
    }
}
