package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.vision.Interpolation;

import java.util.Optional;

/**
 * Patch embedding with learned position embeddings, as in PVT.
 *
 * <p>The table is resized bilinearly to other map sizes. As in the official code, the table of the
 * first stage is used without resizing for any map with the same number of tokens.
 */
final class PositionedPatchEmbed extends Layer {

    /** Use of a class token, whose position is the first row of the table. */
    enum Token {
        NONE,
        /** The table has its position, but maps have no class token. */
        POSITION_ONLY,
        /** A learned token precedes the cells, see {@link ClassToken#prepend}. */
        PREPENDED
    }

    private final boolean isFirst;
    private final boolean hasTokenRow;
    private final int side;
    private final PatchEmbed patches;
    private final Parameter table;
    private final Optional<Parameter> classToken;

    /**
     * Creates the layers {@code patch_embed<stage + 1>} and {@code pos_embed<stage + 1>}.
     *
     * @param side tokens along a side of the position table
     */
    PositionedPatchEmbed(int stage, PatchEmbed patches, int channels, int side, Token token) {
        isFirst = stage == 0;
        this.side = side;
        hasTokenRow = token != Token.NONE;
        WeightInit init = WeightInit.truncatedNormal(0.02);
        this.patches = add("patch_embed" + (stage + 1), patches);
        table =
                parameter(
                        "pos_embed" + (stage + 1),
                        new Shape(1, side * side + (hasTokenRow ? 1 : 0), channels),
                        init);
        classToken =
                when(
                        token == Token.PREPENDED,
                        () -> parameter("cls_token", new Shape(1, 1, channels), init));
    }

    /** Embeds images {@code [N, 3, H, W]} in the first stage, else tokens {@code [N, H, W, C]}. */
    @Override
    protected NDArray forward(NDArray x) {
        NDArray tokens = patches.apply(isFirst ? x : x.transpose(0, 3, 1, 2));
        NDArray positioned = tokens.add(positions(tokens));
        return classToken
                .map(token -> token.getArray().add(table.getArray().get(":, :1")))
                .map(token -> ClassToken.prepend(token, positioned))
                .orElse(positioned);
    }

    private NDArray positions(NDArray tokens) {
        NDArray rows = table.getArray();
        NDArray cells = hasTokenRow ? rows.get(":, 1:") : rows;
        long height = tokens.getShape().get(1);
        long width = tokens.getShape().get(2);
        if (isFirst && height * width == cells.getShape().get(1)) {
            return cells.reshape(1, height, width, -1);
        }
        return Interpolation.bilinear(
                cells.reshape(1, side, side, -1).transpose(0, 3, 1, 2), tokens);
    }
}
