package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.DropPath;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.Scope;

import java.util.Optional;

/**
 * Pre-norm transformer block on tokens {@code [N, H, W, C]}: {@code x + attn(norm1(x))}, then
 * {@code x + mlp(norm2(x))}, with stochastic depth and optional layer scale (Touvron et al. 2021).
 */
class TransformerBlock extends Layer {

    private record Branch(Layer layer, Optional<Parameter> scale, DropPath drop) {

        NDArray of(NDArray x) {
            NDArray y = layer.apply(x);
            return drop.apply(scale.map(s -> y.mul(s.getArray())).orElse(y));
        }
    }

    private final LayerNorm norm1;
    private final LayerNorm norm2;
    private final Branch attention;
    private final Branch feedForward;

    /** Creates a block; {@code layerScale} is the initial scale, empty for none. */
    TransformerBlock(
            int channels,
            Layer attn,
            Layer mlp,
            float eps,
            double dropPath,
            Optional<Double> layerScale) {
        norm1 = add("norm1", new LayerNorm(channels, eps));
        attention =
                new Branch(
                        add("attn", attn),
                        scale("gamma_1", layerScale, channels),
                        add("attn_drop_path", new DropPath(dropPath)));
        norm2 = add("norm2", new LayerNorm(channels, eps));
        feedForward =
                new Branch(
                        add("mlp", mlp),
                        scale("gamma_2", layerScale, channels),
                        add("mlp_drop_path", new DropPath(dropPath)));
    }

    TransformerBlock(int channels, Layer attn, Layer mlp, float eps, double dropPath) {
        this(channels, attn, mlp, eps, dropPath, Optional.empty());
    }

    /** Creates a block with a standard MLP and eps 1e-5. */
    TransformerBlock(int channels, Layer attn, double mlpRatio, double dropPath) {
        this(channels, attn, new Mlp(channels, (int) (channels * mlpRatio)), 1e-5f, dropPath);
    }

    private Optional<Parameter> scale(String name, Optional<Double> first, int channels) {
        Shape shape = new Shape(channels);
        return first.map(x -> parameter(name, shape, WeightInit.constant(x.floatValue())));
    }

    @Override
    protected final NDArray forward(NDArray x) {
        NDList sum;
        // Inference frees the attention maps before the MLP.
        try (NDArray attended = Scope.apply(y -> attention.of(norm1.apply(y)), x)) {
            sum = norm2.forwardSum(x, attended);
        }
        return sum.get(1).add(feedForward.of(sum.get(0)));
    }
}
