package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Interpolation;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.WindowAttention;
import dev.saccade.core.ops.Windows;
import dev.saccade.core.ops.Windows.Order;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Swin Transformer (Liu et al. 2021) in the form of its official detection and segmentation code,
 * whose names its parameters have.
 */
public final class Swin extends StagedTransformer {

    private record Size(int embedDim, int depth, int heads, int window) {}

    private static final ImmutableMap<String, Size> VARIANTS =
            ImmutableMap.of(
                    "tiny", new Size(96, 6, 3, 7),
                    "small", new Size(96, 18, 3, 7),
                    "base", new Size(128, 18, 4, 7),
                    "large", new Size(192, 18, 6, 7),
                    "base_w12", new Size(128, 18, 4, 12),
                    "large_w12", new Size(192, 18, 6, 12));

    /**
     * The hyper-parameters of a Swin Transformer.
     *
     * @param variant the published member of the family that the other keys start from
     * @param embedDim channels of the first stage; the others double it
     * @param depths blocks of each stage
     * @param numHeads heads of each stage
     * @param windowSize tokens along a side of a window
     * @param windowOrder whether maps are padded before they are shifted, as in the official
     *     detection code, or after, as in timm, which also shrinks windows to smaller maps and
     *     shifts only along axes of more than one window
     * @param mlpRatio hidden channels of the feed-forward layers over channels
     * @param qkvBias whether queries, keys and values have a bias
     * @param patchNorm whether a normalisation follows the patch embedding
     * @param ape whether learned absolute position embeddings are added to the patches
     * @param pretrainImgSize image size that the absolute position embeddings are for
     * @param dropPathRate stochastic depth of the last block
     * @param outIndices the stages that come out, 0 to 3, ascending
     * @param frozenStages -1 freezes nothing, 0 the stem, k the stem and stages 1 to k
     * @param activationCheckpointing whether blocks are computed again in the backward pass, which
     *     spares memory
     */
    public record Config(
            String variant,
            int embedDim,
            List<Integer> depths,
            List<Integer> numHeads,
            int windowSize,
            Order windowOrder,
            double mlpRatio,
            boolean qkvBias,
            boolean patchNorm,
            boolean ape,
            int pretrainImgSize,
            double dropPathRate,
            List<Integer> outIndices,
            int frozenStages,
            boolean activationCheckpointing)
            implements StagedTransformer.Config {

        /** Swin-T. */
        public Config() {
            this("tiny");
        }

        /** A published member of the family. */
        public Config(String variant) {
            this(variant, Variants.get(VARIANTS, variant));
        }

        private Config(String variant, Size size) {
            this(
                    variant,
                    size.embedDim,
                    List.of(2, 2, size.depth, 2),
                    List.of(size.heads, 2 * size.heads, 4 * size.heads, 8 * size.heads),
                    size.window,
                    Order.PAD_THEN_SHIFT,
                    4,
                    true,
                    true,
                    false,
                    224,
                    0.2,
                    List.of(0, 1, 2, 3),
                    -1,
                    false);
        }

        /** Checks the values. */
        public Config {
            depths = ImmutableList.copyOf(depths);
            numHeads = ImmutableList.copyOf(numHeads);
            outIndices = ImmutableList.copyOf(outIndices);
            StagedTransformer.checks(depths, dropPathRate, outIndices, frozenStages)
                    .within("embed_dim", embedDim, 1, 8192)
                    .size("num_heads", numHeads, STAGES, STAGES)
                    .each("num_heads", numHeads, 1, 8192)
                    .within("window_size", windowSize, 1, 128)
                    .within("mlp_ratio", mlpRatio, 0.1, 100)
                    .within("pretrain_img_size", pretrainImgSize, 4, 16384)
                    .throwIfAny();
            StagedTransformer.checkHeads(numHeads, embedDim);
            StagedTransformer.checkWindows(numHeads, windowSize);
        }

        @Override
        public String type() {
            return "swin";
        }

        @Override
        public Map<String, Config> variants() {
            return Maps.toMap(VARIANTS.keySet(), Config::new);
        }

        @Override
        public int channels(int stage) {
            return embedDim << stage;
        }

        @Override
        public Swin build() {
            return new Swin(this);
        }
    }

    private static final int PATCH = 4;
    private static final float EPS = 1e-5f;

    /** Makes a Swin Transformer without weights. */
    public Swin(Config config) {
        super(config);
        setStem(
                add(
                        "",
                        new Stem(
                                config.embedDim(),
                                config.patchNorm(),
                                config.ape(),
                                config.pretrainImgSize())));
        addSwinStages((stage, block) -> block(config, stage, block));
        addOutputNorms(EPS);
        freezeStages();
    }

    private static TransformerBlock block(Config config, int stage, int block) {
        int channels = config.channels(stage);
        int shift = block % 2 == 0 ? 0 : config.windowSize() / 2;
        return new TransformerBlock(
                channels,
                new Attention(config, channels, config.numHeads().get(stage), shift),
                config.mlpRatio(),
                config.dropPathRate(stage, block),
                key(stage, block));
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
        public NDArray forward(NDArray images) {
            return Scope.array(
                    () -> {
                        NDArray tokens = patches.forward(images);
                        return positions
                                .map(p -> tokens.add(Interpolation.bicubic(p.getArray(), tokens)))
                                .orElse(tokens);
                    });
        }
    }

    /** Window attention with one relative position bias table a block. */
    private static final class Attention extends Layer {

        private final Parameter table;
        private final Linear qkv;
        private final Linear proj;
        private final int window;
        private final int shift;
        private final Order order;

        Attention(Config config, int channels, int heads, int shift) {
            this.window = config.windowSize();
            this.shift = shift;
            this.order = config.windowOrder();
            int side = 2 * window - 1;
            table =
                    parameter(
                            "relative_position_bias_table",
                            new Shape((long) side * side, heads),
                            WeightInit.truncatedNormal(0.02));
            qkv = add("qkv", new Linear(channels, 3 * channels, config.qkvBias()));
            proj = add("proj", new Linear(channels, channels));
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(
                    () -> {
                        Windows windows = Windows.over(x.getShape(), window, shift, order);
                        return proj.forward(WindowAttention.of(windows, x, qkv, table.getArray()));
                    });
        }
    }
}
