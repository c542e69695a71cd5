package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.NameTable;
import dev.saccade.core.conversion.PositionTable;
import dev.saccade.core.conversion.Reordering;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A custom backbone with other names in another library and a position table. */
public final class TinyBackbone extends Backbone {

    public static final class Provider implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Config.class);
        }
    }

    /** Hyperparameters: the side of the position grid. */
    @Component("tiny")
    public record Config(@Default("3") int side) implements Backbone.Config {

        @Override
        public TinyBackbone build() {
            return new TinyBackbone(side);
        }

        @Override
        public CheckpointRules checkpointRules() {
            return CheckpointRules.NONE
                    .withNames(
                            new NameTable(
                                    "keras",
                                    "{b}body.{*}",
                                    List.of("{b}blocks.{i}.positions"),
                                    """
                                    {b}body.block{i+1}.kernel {b}blocks.{i}.fc.weight transposed
                                    {b}body.block{i+1}.bias   {b}blocks.{i}.fc.bias
                                    {b}body.block{i+1}.{*}    {b}blocks.{i}.{*}
                                    {b}body.{*}               {b}{*}
                                    """,
                                    Map.of(
                                            "transposed",
                                            new Reordering(
                                                    NDArray::transpose, NDArray::transpose))))
                    .withPositions(PositionTable.bilinear("{*}.positions"))
                    .withIndexes(
                            new IndexTable(
                                    "{*}.positions",
                                    "{*}.order",
                                    positions ->
                                            Optional.of(
                                                    new IndexTable.Values(
                                                            ImmutableLongArray.of(
                                                                    positions.shape().get(0))))))
                    .withComputed("{*}.mask")
                    .withUnexpected("{b}fc.weight")
                    .withMissing("{b}norm{i}.{*}");
        }
    }

    private TinyBackbone(int side) {
        add("blocks.0", new Block(side));
        add("norm0", new Linear(2, 2));
    }

    private static final class Block extends Layer {

        private final Linear fc;

        Block(int side) {
            parameter("positions", new Shape((long) side * side, 2), WeightInit.truncatedNormal(1));
            fc = add("fc", new Linear(3, 2));
        }

        @Override
        protected NDArray forward(NDArray x) {
            return fc.apply(x);
        }
    }

    @Override
    protected FeaturePyramid forward(NDArray images) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<FeatureInfo> features() {
        return List.of(new FeatureInfo(2, 4));
    }
}
