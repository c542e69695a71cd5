package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.vision.Interpolation;

import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Base class of Swin Transformer and its successors, with official parameter names. */
abstract class SwinFamily extends StagedTransformer {

    static final String BASE = "embed_dim: 128, depths: [2, 2, 18, 2], num_heads: [4, 8, 16, 32]";
    static final String LARGE = "embed_dim: 192, depths: [2, 2, 18, 2], num_heads: [6, 12, 24, 48]";

    private static final int PATCH = 4;

    interface Config extends StagedTransformer.Config {

        /** Returns the channels of the first stage; each stage doubles them. */
        int embedDim();

        double mlpRatio();

        default boolean patchNorm() {
            return true;
        }

        /** Returns whether to add absolute position embeddings. */
        default boolean ape() {
            return false;
        }

        /** Returns the image size of the absolute position embeddings. */
        default int pretrainImgSize() {
            return 224;
        }

        @Override
        default int channels(int stage) {
            return embedDim() << stage;
        }
    }

    SwinFamily(Config config) {
        super(config);
    }

    static Checks checks(int embedDim, List<Integer> numHeads, double mlpRatio) {
        return new Checks()
                .inRange("embed_dim", embedDim, 1, 8192)
                .each("num_heads", numHeads, STAGES, 1, 8192)
                .inRange("mlp_ratio", mlpRatio, 0.1, 100);
    }

    static void checkHeads(List<Integer> heads, int embedDim) {
        checkHeads(heads, List.of(embedDim, 2 * embedDim, 4 * embedDim, 8 * embedDim));
    }

    /** Requires numbers of heads to divide the channels, and windows to fit into memory. */
    static void checkHeads(List<Integer> heads, int embedDim, int windowSize) {
        checkHeads(heads, embedDim);
        long tokens = (long) windowSize * windowSize;
        checkPairs("window_size", windowSize, Collections.max(heads) * tokens * tokens);
    }

    final void addStages(Config config, BlockFactory block) {
        setStem(add("", new Stem(config)));
        addStages(
                (s, b) -> add("layers." + s + ".blocks." + b, block.create(s, b)),
                s -> {
                    Layer merging = new PatchMerging(config.channels(s));
                    return Optional.of(add("layers." + s + ".downsample", merging));
                });
    }

    /** Adds the stem, transformer blocks with the given attention, and the patch merging. */
    final void addBlocks(Config config, BlockFactory attention) {
        addStages(
                config,
                (stage, block) ->
                        new TransformerBlock(
                                config.channels(stage),
                                attention.create(stage, block),
                                config.mlpRatio(),
                                config.stages().dropPathRate(stage, block)));
    }

    final void addOutputNormsAndFreeze() {
        addOutputNorms(1e-5f);
        freezeStages();
    }

    private static final class Stem extends Layer {

        private final PatchEmbed patches;
        private final Optional<Parameter> positions;

        Stem(Config config) {
            int channels = config.embedDim();
            Geometry geometry = new Geometry(3, channels, PATCH).stride(PATCH);
            patches = add("patch_embed", new PatchEmbed(geometry, config.patchNorm(), true));
            int side = config.pretrainImgSize() / PATCH;
            Shape shape = new Shape(1, channels, side, side);
            WeightInit init = WeightInit.truncatedNormal(0.02);
            positions = when(config.ape(), () -> parameter("absolute_pos_embed", shape, init));
        }

        @Override
        protected NDArray forward(NDArray images) {
            NDArray tokens = patches.apply(images);
            return positions
                    .map(p -> tokens.add(Interpolation.bicubic(p.getArray(), tokens)))
                    .orElse(tokens);
        }
    }
}
