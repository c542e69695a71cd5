package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.attention.DepthwiseAttention;
import dev.saccade.core.ops.attention.DotProductAttention;
import dev.saccade.core.ops.script.MultiplyAdds;

import java.util.Optional;

/** Global self-attention of {@link Deit} between all tokens of an image. */
abstract class DeitAttention extends Layer {

    final TokenGrid grid;
    final int heads;
    private final int parts;
    private final Linear mapped;
    private final Linear proj;
    private final Optional<Parameter> table;

    private DeitAttention(Deit.Config config, int parts, String name) {
        this.parts = parts;
        grid = config.grid();
        heads = config.numHeads();
        int channels = config.embedDim();
        mapped = add(name, new Linear(channels, parts * channels, config.qkvBias()));
        proj = add("proj", new Linear(channels, channels));
        table =
                when(
                        config.relativePositionBias(),
                        () -> table("relative_position_bias_table", heads));
    }

    static DeitAttention of(Deit.Config config) {
        return switch (config.attention()) {
            case DEPTHWISE -> new Depthwise(config);
            case SOFTMAX ->
                    config.relativePositionBias() || config.ghostHead()
                            ? new Dense(config)
                            : new Softmax(config);
            case NONE, SCALING -> config.ghostHead() ? new Dense(config) : new Linearized(config);
            default -> new Dense(config);
        };
    }

    final Parameter table(String name, int columns) {
        return parameter(
                name, new Shape(grid.offsets(), columns), WeightInit.truncatedNormal(0.02));
    }

    @Override
    protected final NDArray forward(NDArray x) {
        return proj.apply(attend(x, mapped.apply(x)));
    }

    /** Returns {@code [N, H, W, C]} for tokens {@code x} and their projections. */
    abstract NDArray attend(NDArray x, NDArray projected);

    /** Returns a part of the projections as {@code [N, groups, tokens, d]}. */
    final NDArray part(NDArray projected, int index, int groups) {
        Shape shape = projected.getShape();
        return projected
                .split(parts, 3)
                .get(index)
                .reshape(shape.get(0), shape.get(1) * shape.get(2), groups, -1)
                .swapAxes(1, 2);
    }

    static NDArray merge(NDArray groups, NDArray x) {
        return groups.swapAxes(1, 2).reshape(x.getShape());
    }

    /** Returns the relative position bias {@code [heads, tokens, tokens]}. */
    final Optional<NDArray> bias(NDArray x) {
        return table.map(t -> grid.pairs(t.getArray(), x));
    }

    /** Softmax attention without position bias. */
    private static final class Softmax extends DeitAttention {

        private final double scale;

        Softmax(Deit.Config config) {
            super(config, 3, "qkv");
            int headDim = config.embedDim() / config.numHeads();
            // Relative to the scale of DotProductAttention.
            scale = config.scaleMode().scale(headDim) * Math.sqrt(headDim);
        }

        @Override
        NDArray attend(NDArray x, NDArray projected) {
            long channels = x.getShape().get(3);
            NDArray q = projected.get(":, :, :, :" + channels);
            NDArray kv = projected.get(":, :, :, " + channels + ":");
            NDArray scaled =
                    Math.abs(scale - 1) < 1e-6
                            ? q
                            : q.mul(Tensors.of(q.getManager(), (float) scale));
            return DotProductAttention.attend(scaled, kv, heads);
        }
    }

    /**
     * Attention without activation: {@code q (k^T v)}, which costs less than {@code (q k^T) v} for
     * more tokens than channels per head, and bias times values.
     */
    private static final class Linearized extends DeitAttention {

        private final float scale;

        Linearized(Deit.Config config) {
            super(config, 3, "qkv");
            scale = config.scaleMode().scale(config.embedDim() / heads);
        }

        @Override
        NDArray attend(NDArray x, NDArray projected) {
            NDArray q = part(projected, 0, heads);
            NDArray k = part(projected, 1, heads);
            NDArray v = part(projected, 2, heads);
            Shape shape = v.getShape();
            long headDim = shape.get(3);
            NDArray mixed =
                    MultiplyAdds.run(
                            2 * v.size() * headDim,
                            v,
                            shape,
                            () -> {
                                NDArray factor = Tensors.of(v.getManager(), scale);
                                return q.matMul(k.swapAxes(2, 3).matMul(v).mul(factor));
                            });
            Optional<NDArray> biased =
                    bias(x).map(
                                    b ->
                                            MultiplyAdds.run(
                                                    v.size() * shape.get(2),
                                                    v,
                                                    shape,
                                                    () -> b.matMul(v)));
            return merge(biased.map(mixed::add).orElse(mixed), x);
        }
    }

    /** Attention with any filters, position bias and ghost head. */
    private static final class Dense extends DeitAttention {

        private final float scale;
        private final FilterNorm norm;
        private final Optional<Parameter> ghostHead;

        Dense(Deit.Config config) {
            super(config, 3, "qkv");
            scale = config.scaleMode().scale(config.embedDim() / heads);
            norm = add("norm", config.attention().norm(grid.tokens()));
            ghostHead = when(config.ghostHead(), () -> table("ghost_head", 2 * heads));
        }

        @Override
        NDArray attend(NDArray x, NDArray projected) {
            NDArray q = part(projected, 0, heads);
            NDArray k = part(projected, 1, heads);
            NDArray v = part(projected, 2, ghostHead.isPresent() ? 2 * heads : heads);
            Shape shape = q.getShape();
            long tokens = shape.get(2);
            Shape pairs = shape.slice(0, 3).add(tokens);
            NDArray products =
                    MultiplyAdds.run(
                            q.size() * tokens,
                            q,
                            pairs,
                            () ->
                                    q.mul(Tensors.of(q.getManager(), scale))
                                            .matMul(k.swapAxes(2, 3)));
            bias(x).ifPresent(products::addi);
            NDArray filters =
                    norm.forward(products, Optional.empty(), values -> grid.perToken(values, x));
            NDArray all =
                    ghostHead
                            .map(ghost -> doubled(filters, grid.pairs(ghost.getArray(), x)))
                            .orElse(filters);
            return merge(
                    MultiplyAdds.run(v.size() * tokens, v, v.getShape(), () -> all.matMul(v)), x);
        }

        /** Adds two static filters {@code [2 * heads, tokens, tokens]} to each head. */
        private static NDArray doubled(NDArray filters, NDArray ghost) {
            long[] shape = filters.getShape().getShape();
            return filters.expandDims(2)
                    .add(ghost.reshape(1, shape[1], 2, shape[2], shape[3]))
                    .reshape(shape[0], 2 * shape[1], shape[2], shape[3]);
        }
    }

    private static final class Depthwise extends DeitAttention {

        Depthwise(Deit.Config config) {
            super(config, 2, "qk");
        }

        @Override
        NDArray attend(NDArray x, NDArray projected) {
            NDArray q = part(projected, 0, heads).expandDims(1);
            NDArray k = part(projected, 1, heads).expandDims(1);
            return merge(DepthwiseAttention.attend(q, k, bias(x), Optional.empty()).squeeze(1), x);
        }
    }
}
