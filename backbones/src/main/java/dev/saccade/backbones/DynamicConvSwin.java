package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.backbones.FilterNorm.Activation;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.attention.DepthwiseAttention;
import dev.saccade.core.ops.attention.RelativePositionBias;
import dev.saccade.core.ops.attention.WindowRegion;

import java.util.List;
import java.util.Optional;

/**
 * Swin Transformer as a network of dynamic convolutions (Zhou et al. 2023): with activations other
 * than softmax, or with depth-wise self-attention.
 *
 * <p>No code was published. Choices where the paper is silent: in shifted windows, masked keys are
 * excluded from filters and layer normalization statistics (in a softmax, they get -100); layer
 * normalization has a gain and bias per key. The published parameter counts of depth-wise attention
 * imply a relative position bias per channel in tiny and per head in base; small and large, which
 * are not in the paper, follow base.
 */
public final class DynamicConvSwin extends SwinFamily {

    private static final String SCALED = "attention: scaling, scale_mode: head_dim";
    private static final String SCALED_RELU = "attention: scaling_relu, scale_mode: head_dim";
    private static final String APE = "relative_position_bias: false, ape: true";

    /** Token mixing; {@code l_ij = c q_i k_j + p_ij}, with relative position bias p. */
    public enum Attention {
        /** {@code sum_j softmax_j(l_ij) v_j}, as in Swin. */
        SOFTMAX,
        /** {@code sum_j l_ij v_j}. */
        NONE,
        /** Computed like {@link #NONE}; the paper combines the two with different scales c. */
        SCALING,
        /** {@code sum_j max(0, l_ij) v_j}. */
        SCALING_RELU,
        /** {@code sum_j LayerNorm_j(l_ij) v_j}. */
        LAYERNORM,
        /** {@code sum_j max(0, LayerNorm_j(l_ij)) v_j}. */
        LAYERNORM_RELU,
        /** {@code q_i * mean_j k_j + sum_j p_ij k_j} per channel, without values. */
        DEPTHWISE;

        FilterNorm norm(int keys) {
            return switch (this) {
                case SOFTMAX -> new FilterNorm(Activation.SOFTMAX);
                case NONE, SCALING -> new FilterNorm(Activation.IDENTITY);
                case SCALING_RELU -> new FilterNorm(Activation.RELU);
                case LAYERNORM -> new FilterNorm(keys, Activation.IDENTITY);
                case LAYERNORM_RELU -> new FilterNorm(keys, Activation.RELU);
                case DEPTHWISE -> throw new IllegalStateException("depthwise has no filters");
            };
        }
    }

    /** Scale c of products of queries and keys with d channels. */
    public enum ScaleMode {
        /** {@code 1 / d}. */
        HEAD_DIM,
        /** {@code 1 / sqrt(d)}. */
        SQRT_HEAD_DIM;

        float scale(int headDim) {
            return switch (this) {
                case HEAD_DIM -> 1f / headDim;
                case SQRT_HEAD_DIM -> (float) Math.pow(headDim, -0.5);
            };
        }
    }

    /**
     * Settings of a dynamic convolution Swin Transformer. The {@code _ape} variants are the rows of
     * Table 2 with absolute position embeddings.
     *
     * @param numHeads in depth-wise attention, only the relative position bias uses heads
     * @param scaleMode unused by depth-wise attention
     * @param biasOutside whether the relative position bias is added after the activation; unused
     *     by depth-wise attention
     */
    @Component("dynamic_conv_swin")
    @Variant(name = "softmax_tiny", settings = "attention: softmax")
    @Variant(name = "none_tiny", settings = "attention: none")
    @Variant(name = "scaling_tiny", settings = SCALED)
    @Variant(name = "scaling_relu_tiny", settings = SCALED_RELU)
    @Variant(name = "layernorm_tiny", settings = "attention: layernorm")
    @Variant(name = "layernorm_relu_tiny")
    @Variant(name = "softmax_ape_tiny", settings = APE + ", attention: softmax")
    @Variant(name = "scaling_ape_tiny", settings = APE + ", " + SCALED)
    @Variant(name = "scaling_relu_ape_tiny", settings = APE + ", " + SCALED_RELU)
    @Variant(
            name = "depthwise_tiny",
            settings = {"attention: depthwise", "num_heads: [96, 192, 384, 768]"})
    @Variant(
            name = "depthwise_small",
            settings = {"attention: depthwise", "depths: [2, 2, 18, 2]", "drop_path_rate: 0.3"})
    @Variant(name = "softmax_base", settings = BASE + ", attention: softmax, drop_path_rate: 0.5")
    @Variant(name = "scaling_base", settings = BASE + ", " + SCALED + ", drop_path_rate: 0.5")
    @Variant(
            name = "depthwise_base",
            settings = {BASE, "attention: depthwise", "drop_path_rate: 0.5"})
    @Variant(name = "depthwise_large", settings = LARGE + ", attention: depthwise")
    public record Config(
            @Default("layernorm_relu_tiny") String variant,
            @Default("96") int embedDim,
            @Default("[3, 6, 12, 24]") List<Integer> numHeads,
            @Default("layernorm_relu") Attention attention,
            @Default("sqrt_head_dim") ScaleMode scaleMode,
            @Default("true") boolean relativePositionBias,
            @Default("false") boolean biasOutside,
            @Default("7") int windowSize,
            @Default("4") double mlpRatio,
            @Default("false") boolean ape,
            @Default("224") int pretrainImgSize,
            @Unwrapped StageSettings stages)
            implements SwinFamily.Config {

        public Config {
            numHeads = ImmutableList.copyOf(numHeads);
            checks(embedDim, numHeads, mlpRatio)
                    .inRange("window_size", windowSize, 1, 128)
                    .inRange("pretrain_img_size", pretrainImgSize, 4, 16384)
                    .throwIfAny();
            checkHeads(numHeads, embedDim, windowSize);
        }

        @Override
        public CheckpointRules checkpointRules() {
            return SwinCheckpoints.TABLES;
        }

        @Override
        public DynamicConvSwin build() {
            return new DynamicConvSwin(this);
        }
    }

    public DynamicConvSwin(Config config) {
        super(config);
        addBlocks(config, (stage, block) -> attention(config, stage, block));
        addOutputNormsAndFreeze();
    }

    private static Layer attention(Config config, int stage, int block) {
        int channels = config.channels(stage);
        int heads = config.numHeads().get(stage);
        int shift = block % 2 == 0 ? 0 : config.windowSize() / 2;
        WindowRegion region = new WindowRegion(config.windowSize(), shift);
        return config.attention() == Attention.DEPTHWISE
                ? new Depthwise(config, channels, heads, region)
                : new Dense(config, channels, heads, region);
    }

    private abstract static class Windowed extends Layer {

        final WindowRegion region;
        final int heads;
        private final Optional<Parameter> table;

        Windowed(Config config, int heads, WindowRegion region) {
            this.region = region;
            this.heads = heads;
            Shape shape = new Shape(region.offsets(), heads);
            WeightInit init = WeightInit.truncatedNormal(0.02);
            table =
                    when(
                            config.relativePositionBias(),
                            () -> parameter("relative_position_bias_table", shape, init));
        }

        final Optional<NDArray> bias() {
            int side = region.side();
            return table.map(t -> RelativePositionBias.ofWindow(t.getArray(), side, side));
        }
    }

    /** Attention with a selectable activation. */
    static final class Dense extends Windowed {

        private final boolean biasOutside;
        private final float scale;
        private final FilterNorm norm;
        private final Linear qkv;
        private final Linear proj;

        Dense(Config config, int channels, int heads, WindowRegion region) {
            super(config, heads, region);
            biasOutside = config.biasOutside();
            scale = config.scaleMode().scale(channels / heads);
            norm = add("norm", config.attention().norm(region.keys()));
            qkv = add("qkv", new Linear(channels, 3 * channels));
            proj = add("proj", new Linear(channels, channels));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray mapped = qkv.apply(region.arrange(x));
            List<NDArray> parts = region.split(mapped, 3, heads);
            Optional<NDArray> unseen = region.mask(mapped);
            NDArray filters = filters(parts.get(0), parts.get(1), unseen);
            return proj.apply(region.apply(filters, parts.get(2), x.getShape()));
        }

        private NDArray filters(NDArray q, NDArray k, Optional<NDArray> unseen) {
            NDArray products = region.products(q.mul(Tensors.of(q.getManager(), scale)), k);
            Optional<NDArray> bias = bias();
            if (!biasOutside) {
                bias.ifPresent(products::addi);
                return norm.forward(products, unseen);
            }
            NDArray filters = norm.forward(products, unseen);
            return bias.map(p -> filters.add(unseen.map(u -> p.sub(p.mul(u))).orElse(p)))
                    .orElse(filters);
        }
    }

    static final class Depthwise extends Windowed {

        private final Linear qk;
        private final Linear proj;

        Depthwise(Config config, int channels, int heads, WindowRegion region) {
            super(config, heads, region);
            qk = add("qk", new Linear(channels, 2 * channels));
            proj = add("proj", new Linear(channels, channels));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray mapped = qk.apply(region.arrange(x));
            List<NDArray> parts = region.split(mapped, 2, heads);
            NDArray mixed =
                    DepthwiseAttention.attend(
                            parts.get(0), parts.get(1), bias(), region.mask(mapped));
            return proj.apply(region.merge(mixed, x.getShape()));
        }
    }
}
