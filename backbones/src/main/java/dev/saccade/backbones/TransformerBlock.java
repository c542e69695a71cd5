package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.DropPath;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.ops.memory.Scope;

/**
 * A pre-norm transformer block on tokens {@code [N, H, W, C]}: {@code x + attn(norm1(x))}, then
 * {@code x + mlp(norm2(x))}, each branch with stochastic depth.
 */
final class TransformerBlock extends Layer {

    private final LayerNorm norm1;
    private final Layer attn;
    private final LayerNorm norm2;
    private final Layer mlp;
    private final DropPath attnDrop;
    private final DropPath mlpDrop;

    /**
     * Makes a block.
     *
     * @param channels C
     * @param attn what mixes tokens
     * @param mlp what mixes channels
     * @param eps of the normalizations
     * @param dropPath probability of leaving out each branch
     */
    TransformerBlock(int channels, Layer attn, Layer mlp, float eps, double dropPath) {
        norm1 = add("norm1", new LayerNorm(channels, eps));
        this.attn = add("attn", attn);
        norm2 = add("norm2", new LayerNorm(channels, eps));
        this.mlp = add("mlp", mlp);
        attnDrop = add("attn_drop_path", new DropPath(dropPath));
        mlpDrop = add("mlp_drop_path", new DropPath(dropPath));
    }

    /** Makes a block with the usual feed-forward layers and eps 1e-5. */
    TransformerBlock(int channels, Layer attn, double mlpRatio, double dropPath) {
        this(channels, attn, new Mlp(channels, (int) (channels * mlpRatio)), 1e-5f, dropPath);
    }

    @Override
    protected NDArray forward(NDArray x) {
        return Scope.array(
                () -> {
                    NDList sum = Scope.list(() -> norm2.forwardSum(x, attended(x)));
                    return sum.get(1).add(mlpDrop.apply(mlp.apply(sum.get(0))));
                });
    }

    private NDArray attended(NDArray x) {
        return attnDrop.apply(attn.apply(norm1.apply(x)));
    }
}
