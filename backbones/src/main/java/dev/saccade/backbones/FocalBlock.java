package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.attention.FocalAttention;
import dev.saccade.core.ops.attention.FocalBias;
import dev.saccade.core.ops.attention.FocalRegion;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

final class FocalBlock extends TransformerBlock {

    FocalBlock(Focal.Config config, int stage, int block) {
        this(config, stage, block, pools(config, stage, config.region(stage, block)));
    }

    private FocalBlock(Focal.Config config, int stage, int block, List<SubWindowPooling> pools) {
        super(
                config.channels(stage),
                new Attention(config, stage, config.region(stage, block), pools),
                new Mlp(config.channels(stage), (int) (config.channels(stage) * config.mlpRatio())),
                1e-5f,
                config.stages().dropPathRate(stage, block),
                config.layerScale());
        for (int k = 0; k < pools.size(); k++) {
            add("pool_layers." + k, pools.get(k));
        }
    }

    private static List<SubWindowPooling> pools(
            Focal.Config config, int stage, FocalRegion region) {
        int channels = config.channels(stage);
        return IntStream.range(0, region.pooledLevels())
                .mapToObj(
                        k -> new SubWindowPooling(config.focalPool(), channels, region.window(), k))
                .toList();
    }

    /** Focal attention with bias tables for tokens of the window, its ring and pooled levels. */
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
            Shape shape = new Shape(1, heads, region.area(), region.neighbors());
            WeightInit init = WeightInit.truncatedNormal(0.02);
            neighbors =
                    when(
                            region.neighbors() > 0,
                            () -> parameter(TABLE + "_to_neighbors", shape, init));
            windows = add(TABLE + "_to_windows", new WindowTables(region, heads));
            qkv = add("qkv", new Linear(channels, 3 * channels, config.qkvBias()));
            proj = add("proj", new Linear(channels, channels));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray tokens = region.windows().arrange(x);
            NDArray bias =
                    FocalBias.lookUp(
                            region,
                            own.getArray(),
                            neighbors.map(Parameter::getArray),
                            windows.arrays());
            return proj.apply(
                    FocalAttention.attend(
                            region, qkv.apply(tokens), cells(tokens).map(qkv), bias, x.getShape()));
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

    /** Position bias tables of the pooled levels, numbered as in the official code. */
    private static final class WindowTables extends Module {

        private final List<Parameter> tables = new ArrayList<>();

        WindowTables(FocalRegion region, int heads) {
            for (int k = 0; k < region.pooledLevels(); k++) {
                long reach = region.window() + region.cells(k) - 1L;
                Shape shape = new Shape(heads, reach * reach);
                tables.add(parameter(String.valueOf(k), shape, WeightInit.truncatedNormal(0.02)));
            }
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
