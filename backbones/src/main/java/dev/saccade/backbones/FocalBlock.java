package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.DropPath;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.attention.FocalAttention;
import dev.saccade.core.ops.attention.FocalBias;
import dev.saccade.core.ops.attention.FocalRegion;
import dev.saccade.core.ops.memory.Scope;

import java.util.List;
import java.util.Optional;

/**
 * A pre-norm transformer block with focal attention on tokens {@code [N, H, W, C]}. Each branch may
 * be scaled channel by channel (Touvron et al. 2021), and has stochastic depth.
 */
final class FocalBlock extends Layer {

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

    FocalBlock(Focal.Config config, int stage, int block) {
        int channels = config.channels(stage);
        FocalRegion region = config.region(stage, block);
        List<SubWindowPooling> pools =
                StagedTransformer.each(
                        region.pooledLevels(),
                        k ->
                                add(
                                        "pool_layers." + k,
                                        new SubWindowPooling(
                                                config.focalPool(), channels, region.window(), k)));
        double dropPath = config.stages().dropPathRate(stage, block);
        norm1 = add("norm1", new LayerNorm(channels));
        attention =
                new Branch(
                        add("attn", new Attention(config, stage, region, pools)),
                        scale("gamma_1", config, channels),
                        add("attn_drop_path", new DropPath(dropPath)));
        norm2 = add("norm2", new LayerNorm(channels));
        feedForward =
                new Branch(
                        add("mlp", new Mlp(channels, (int) (channels * config.mlpRatio()))),
                        scale("gamma_2", config, channels),
                        add("mlp_drop_path", new DropPath(dropPath)));
    }

    private Optional<Parameter> scale(String name, Focal.Config config, int channels) {
        return config.layerScale()
                .map(
                        first ->
                                parameter(
                                        name,
                                        new Shape(channels),
                                        WeightInit.constant(first.floatValue())));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return Scope.array(
                () -> {
                    NDList sum =
                            Scope.list(() -> norm2.forwardSum(x, attention.of(norm1.apply(x))));
                    return sum.get(1).add(feedForward.of(sum.get(0)));
                });
    }

    /** Focal attention with a table of relative position biases for each kind of key. */
    private static final class Attention extends Layer {

        private static final String TABLE = "relative_position_bias_table";

        private final FocalRegion region;
        private final List<SubWindowPooling> pools;
        private final Parameter own;
        private final Optional<Parameter> neighbors;
        private final WindowTables windows;
        private final Linear qkv;
        private final Linear proj;

        Attention(
                Focal.Config config, int stage, FocalRegion region, List<SubWindowPooling> pools) {
            this.region = region;
            this.pools = pools;
            int channels = config.channels(stage);
            int heads = config.numHeads().get(stage);
            int side = 2 * region.window() - 1;
            own = parameter(TABLE, new Shape((long) side * side, heads), WeightInit.ZEROS);
            neighbors =
                    region.neighbors() == 0
                            ? Optional.empty()
                            : Optional.of(
                                    parameter(
                                            TABLE + "_to_neighbors",
                                            new Shape(1, heads, region.area(), region.neighbors()),
                                            WeightInit.truncatedNormal(0.02)));
            windows = add(TABLE + "_to_windows", new WindowTables(region, heads));
            qkv = add("qkv", new Linear(channels, 3 * channels, config.qkvBias()));
            proj = add("proj", new Linear(channels, channels));
        }

        @Override
        protected NDArray forward(NDArray x) {
            return Scope.array(
                    () -> {
                        NDArray tokens = region.windows().arrange(x);
                        NDArray bias =
                                FocalBias.lookUp(
                                        region,
                                        own.getArray(),
                                        neighbors.map(Parameter::getArray),
                                        windows.arrays());
                        return proj.apply(
                                FocalAttention.attend(
                                        region,
                                        qkv.apply(tokens),
                                        cells(tokens).map(qkv),
                                        bias,
                                        x.getShape()));
                    });
        }

        private Optional<NDArray> cells(NDArray tokens) {
            if (pools.isEmpty()) {
                return Optional.empty();
            }
            NDList levels = new NDList(pools.size());
            pools.forEach(pool -> levels.add(pool.apply(tokens)));
            return Optional.of(Tensors.concat(levels, 1));
        }
    }

    /** The tables of the levels, which the original numbers. */
    private static final class WindowTables extends Module {

        private final List<Parameter> tables;

        WindowTables(FocalRegion region, int heads) {
            tables =
                    StagedTransformer.each(
                            region.pooledLevels(),
                            k -> {
                                long reach = region.window() + region.cells(k) - 1L;
                                return parameter(
                                        String.valueOf(k),
                                        new Shape(heads, reach * reach),
                                        WeightInit.truncatedNormal(0.02));
                            });
        }

        List<NDArray> arrays() {
            return tables.stream().map(Parameter::getArray).toList();
        }

        @Override
        public NDList call(NDList none) {
            return new NDList(arrays());
        }
    }
}
