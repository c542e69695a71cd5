package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.vision.Interpolation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Swin Transformer and its successors, which replace its attention; names are the official ones.
 */
abstract class SwinFamily extends StagedTransformer {

    static final String BASE = "embed_dim: 128, depths: [2, 2, 18, 2], num_heads: [4, 8, 16, 32]";
    static final String LARGE = "embed_dim: 192, depths: [2, 2, 18, 2], num_heads: [6, 12, 24, 48]";

    private static final int PATCH = 4;

    /** The settings of all members. */
    interface Config extends StagedTransformer.Config {

        /** Returns the channels of the first stage; the others double it. */
        int embedDim();

        /** Returns the hidden channels of the feed-forward layers over channels. */
        double mlpRatio();

        @Override
        default int channels(int stage) {
            return embedDim() << stage;
        }
    }

    /** Creates a block or its attention. */
    interface LayerMaker {

        Layer make(int stage, int block);
    }

    SwinFamily(Config config) {
        super(config);
    }

    /** Starts the checks of the common settings. */
    static Checks checks(int embedDim, List<Integer> numHeads, double mlpRatio) {
        return new Checks()
                .within("embed_dim", embedDim, 1, 8192)
                .each("num_heads", numHeads, STAGES, 1, 8192)
                .within("mlp_ratio", mlpRatio, 0.1, 100);
    }

    /** Refuses heads that do not divide the channels of their stage. */
    static void checkHeads(List<Integer> heads, int embedDim) {
        checkHeads(heads, each(STAGES, s -> embedDim << s));
    }

    /** Refuses heads that do not divide their channels, and windows too large for the memory. */
    static void checkHeads(List<Integer> heads, int embedDim, int windowSize) {
        checkHeads(heads, embedDim);
        long tokens = (long) windowSize * windowSize;
        checkPairs("window_size", windowSize, Collections.max(heads) * tokens * tokens);
    }

    /** Adds the stem and all blocks; a {@code global_block} is the last one of the last stage. */
    final void addBlocks(
            Config config, Layer stem, LayerMaker makeBlock, Optional<Layer> globalBlock) {
        setStem(add(stem instanceof PatchEmbed ? "patch_embed" : "", stem));
        for (int s = 0; s < STAGES; s++) {
            String layer = "layers." + s + ".";
            List<Layer> blocks = new ArrayList<>();
            for (int b = 0; b < config.stages().depths().get(s); b++) {
                blocks.add(add(layer + "blocks." + b, makeBlock.make(s, b)));
            }
            if (s < STAGES - 1) {
                Layer downsample = new PatchMerging(config.channels(s));
                addStage(blocks, Optional.of(add(layer + "downsample", downsample)));
            } else {
                globalBlock.ifPresent(block -> blocks.add(add("global_block", block)));
                addStage(blocks, Optional.empty());
            }
        }
    }

    /** Adds all layers, with blocks that differ in their attention only. */
    final void addLayers(
            Config config, Layer stem, LayerMaker attention, Optional<Layer> globalBlock) {
        LayerMaker makeBlock =
                (stage, block) ->
                        new TransformerBlock(
                                config.channels(stage),
                                attention.make(stage, block),
                                config.mlpRatio(),
                                config.stages().dropPathRate(stage, block));
        addBlocks(config, stem, makeBlock, globalBlock);
        addOutputNorms(1e-5f);
        freezeStages();
    }

    final void addLayers(Config config, Layer stem, LayerMaker attention) {
        addLayers(config, stem, attention, Optional.empty());
    }

    /** Returns the patch embedding with a normalization and without position embeddings. */
    static PatchEmbed plainStem(Config config) {
        return new PatchEmbed(3, config.embedDim(), PATCH, true);
    }

    /** Patches and, where wanted, their absolute position embeddings. */
    static final class Stem extends Layer {

        private final PatchEmbed patches;
        private final Optional<Parameter> positions;

        Stem(int embedDim, boolean patchNorm, boolean ape, int pretrainImgSize) {
            patches = add("patch_embed", new PatchEmbed(3, embedDim, PATCH, patchNorm));
            int side = pretrainImgSize / PATCH;
            positions =
                    ape
                            ? Optional.of(
                                    parameter(
                                            "absolute_pos_embed",
                                            new Shape(1, embedDim, side, side),
                                            WeightInit.truncatedNormal(0.02)))
                            : Optional.empty();
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
