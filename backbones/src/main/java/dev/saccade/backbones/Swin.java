package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.attention.WindowAttention;
import dev.saccade.core.ops.attention.Windows;
import dev.saccade.core.ops.attention.Windows.Order;

import java.util.List;

/**
 * Swin Transformer (Liu et al. 2021) with the structure and names of the official detection code.
 *
 * <p>{@code tiny_w14}, {@code tiny_no_shift}, {@code tiny_2222} and {@code tiny_2242} are baselines
 * of Focal Transformer (Yang et al. 2021, Tables 7 to 9; digits are depths). {@code tiny_w14}
 * shrinks windows to smaller maps, like the official classifier. {@code tiny_heads_1}, {@code _2x}
 * and {@code _c} are the head settings 1, 2x and C of ELSA (Zhou et al. 2021, Figure 2; in the
 * paper, C ran out of memory).
 */
public final class Swin extends SwinFamily {

    /**
     * Settings of a Swin Transformer.
     *
     * @param useShift whether to shift windows in every other block
     * @param windowOrder {@code pad_then_shift} as in the official detection code, or {@code
     *     shift_then_pad} as in timm, which also shrinks windows to smaller maps and shifts only
     *     along axes with more than one window
     * @param globalBlock whether to append a block with global attention, like HTC++ in the paper;
     *     it has no relative position bias and no pretrained weights
     */
    @Component("swin")
    @Variant(name = "tiny")
    @Variant(name = "small", settings = "depths: [2, 2, 18, 2]")
    @Variant(name = "base", settings = BASE)
    @Variant(name = "large", settings = LARGE)
    @Variant(name = "base_w12", settings = BASE + ", window_size: 12")
    @Variant(name = "large_w12", settings = LARGE + ", window_size: 12")
    @Variant(name = "tiny_no_shift", settings = "use_shift: false")
    @Variant(name = "tiny_w14", settings = "window_size: 14, window_order: shift_then_pad")
    @Variant(name = "tiny_2222", settings = "depths: [2, 2, 2, 2]")
    @Variant(name = "tiny_2242", settings = "depths: [2, 2, 4, 2]")
    @Variant(name = "tiny_heads_1", settings = "num_heads: [1, 1, 1, 1]")
    @Variant(name = "tiny_heads_2x", settings = "num_heads: [6, 12, 24, 48]")
    @Variant(name = "tiny_heads_c", settings = "num_heads: [96, 192, 384, 768]")
    public record Config(
            @Default("tiny") String variant,
            @Default("96") int embedDim,
            @Default("[3, 6, 12, 24]") List<Integer> numHeads,
            @Default("7") int windowSize,
            @Default("true") boolean useShift,
            @Default("pad_then_shift") Order windowOrder,
            @Default("4") double mlpRatio,
            @Default("true") boolean qkvBias,
            @Default("true") boolean patchNorm,
            @Default("false") boolean ape,
            @Default("224") int pretrainImgSize,
            @Default("false") boolean globalBlock,
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
            return SwinCheckpoints.RULES;
        }

        @Override
        public Swin build() {
            return new Swin(this);
        }
    }

    public Swin(Config config) {
        super(config);
        addBlocks(config, (stage, block) -> attention(config, stage, block));
        if (config.globalBlock()) {
            addLastBlock(add("global_block", globalBlock(config)));
        }
        addOutputNormsAndFreeze();
    }

    private static Layer attention(Config config, int stage, int block) {
        int shift = config.useShift() && block % 2 == 1 ? config.windowSize() / 2 : 0;
        return new Attention(config, config.channels(stage), config.numHeads().get(stage), shift);
    }

    private static Layer globalBlock(Config config) {
        int channels = config.channels(STAGES - 1);
        return new TransformerBlock(
                channels,
                new GlobalAttention(
                        channels, config.numHeads().get(STAGES - 1), config.qkvBias(), true),
                config.mlpRatio(),
                config.stages().dropPathRate());
    }

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
        protected NDArray forward(NDArray x) {
            Windows windows = Windows.over(x.getShape(), window, shift, order);
            return proj.apply(WindowAttention.attend(windows, x, qkv, table.getArray()));
        }
    }
}
