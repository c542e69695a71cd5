package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.backbones.PositionedPatchEmbed.Token;
import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.PositionTable;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Sequential;

import java.util.List;
import java.util.Optional;

/**
 * Pyramid Vision Transformer v1 (Wang et al. 2021) with the structure and parameter names of the
 * official code. The default is the detector's backbone, without output norms; with {@code
 * cls_token}, it is the classifier's, whose only output is the class token.
 *
 * <p>As in the original, rows and columns that do not fill a patch are cropped at the bottom and
 * right.
 */
public final class Pvt extends StagedTransformer {

    /**
     * Settings of a Pyramid Vision Transformer.
     *
     * @param srRatios factors by which keys and values are reduced along each side of the map
     * @param clsToken whether the last stage starts with a class token, which becomes a 1x1 map
     * @param normEps eps of the block normalizations; other normalizations use 1e-5
     */
    @Component("pvt")
    @Variant(name = "tiny", settings = "depths: [2, 2, 2, 2]")
    @Variant(name = "small")
    @Variant(name = "medium", settings = "depths: [3, 4, 18, 3], drop_path_rate: 0")
    @Variant(name = "large", settings = "depths: [3, 8, 27, 3], drop_path_rate: 0")
    public record Config(
            @Default("small") String variant,
            @Default("[64, 128, 320, 512]") List<Integer> embedDims,
            @Default("[1, 2, 5, 8]") List<Integer> numHeads,
            @Default("[8, 8, 4, 4]") List<Integer> mlpRatios,
            @Default("[8, 4, 2, 1]") List<Integer> srRatios,
            @Default("true") boolean qkvBias,
            @Default("1e-6") double normEps,
            @Default("224") int pretrainImgSize,
            @Default("false") boolean clsToken,
            @Unwrapped @Default("{depths: [3, 4, 6, 3], drop_path_rate: 0.1}") StageSettings stages)
            implements StagedTransformer.Config {

        public Config {
            embedDims = ImmutableList.copyOf(embedDims);
            numHeads = ImmutableList.copyOf(numHeads);
            mlpRatios = ImmutableList.copyOf(mlpRatios);
            srRatios = ImmutableList.copyOf(srRatios);
            new Checks()
                    .each("embed_dims", embedDims, STAGES, 1, 65536)
                    .each("num_heads", numHeads, STAGES, 1, 8192)
                    .each("mlp_ratios", mlpRatios, STAGES, 1, 100)
                    .each("sr_ratios", srRatios, STAGES, 1, 64)
                    .inRange("norm_eps", normEps, 1e-12, 1)
                    .inRange("pretrain_img_size", pretrainImgSize, COARSEST, 16384)
                    .throwIfAny();
            StagedTransformer.checkHeads(numHeads, embedDims);
            Checks.require(
                    pretrainImgSize % COARSEST == 0,
                    "pretrain_img_size",
                    pretrainImgSize,
                    "a multiple of 32");
            Checks.require(
                    !clsToken || stages.outIndices().equals(List.of(STAGES - 1)),
                    "out_indices",
                    stages.outIndices(),
                    "[3] with cls_token");
            Checks.require(
                    !clsToken || srRatios.get(STAGES - 1) == 1,
                    "sr_ratios",
                    srRatios,
                    "1 in the last stage with cls_token");
        }

        @Override
        public int channels(int stage) {
            return embedDims.get(stage);
        }

        @Override
        public CheckpointRules checkpointRules() {
            CheckpointRules rules =
                    CLASSIFIER.withPositions(PositionTable.bilinear("{b}pos_embed{i}"));
            return clsToken ? rules : rules.withUnexpected("{b}cls_token");
        }

        @Override
        public Pvt build() {
            return new Pvt(this);
        }
    }

    private static final int PATCH = 4;
    private static final int COARSEST = 32;

    public Pvt(Config config) {
        super(config);
        setStem(add("", embedding(config, 0)));
        addStages(
                (s, b) -> add("block" + (s + 1) + "." + b, block(config, s, b)),
                s -> Optional.of(add("", embedding(config, s + 1))));
        if (config.clsToken()) {
            addOutput(STAGES - 1, new Sequential().then(ClassToken::of));
        }
        freezeStages();
    }

    private static TransformerBlock block(Config config, int stage, int block) {
        int channels = config.channels(stage);
        return new TransformerBlock(
                channels,
                new GlobalAttention(
                        channels,
                        config.numHeads().get(stage),
                        config.qkvBias(),
                        true,
                        reduction(channels, config.srRatios().get(stage))),
                new Mlp(channels, channels * config.mlpRatios().get(stage)),
                (float) config.normEps(),
                config.stages().dropPathRate(stage, block));
    }

    static Layer embedding(Config config, int stage) {
        int in = stage == 0 ? 3 : config.channels(stage - 1);
        int patch = stage == 0 ? PATCH : 2;
        int channels = config.channels(stage);
        Geometry geometry = new Geometry(in, channels, patch).stride(patch);
        int side = config.pretrainImgSize() / (PATCH << stage);
        Token last = config.clsToken() ? Token.PREPENDED : Token.POSITION_ONLY;
        return new PositionedPatchEmbed(
                stage,
                new PatchEmbed(geometry, true, false),
                channels,
                side,
                stage == STAGES - 1 ? last : Token.NONE);
    }

    /** Returns the spatial reduction of the keys and values. */
    private static Layer reduction(int channels, int ratio) {
        Sequential layers = new Sequential();
        if (ratio == 1) {
            return layers;
        }
        Geometry cells = new Geometry(channels, channels, ratio).stride(ratio);
        return layers.then(x -> requireCells(x, ratio))
                .then(StagedTransformer::toMap)
                .append("sr", Conv2d.withDefaultInit(cells))
                .then(StagedTransformer::toTokens)
                .append("norm", new LayerNorm(channels));
    }

    private static NDArray requireCells(NDArray x, int ratio) {
        Shape map = x.getShape();
        if (Math.min(map.get(1), map.get(2)) < ratio) {
            throw SaccadeException.user(
                    "sr_ratios: got %d for a map of %dx%d, expected at most its smaller side; use"
                            + " larger images",
                    ratio, map.get(1), map.get(2));
        }
        return x;
    }
}
