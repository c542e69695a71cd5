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
import java.util.Optional;

/**
 * ELSA-Swin (Zhou et al. 2021): Swin Transformer with {@link Elsa} instead of window attention in
 * the first three stages; structure and names follow the official detection code.
 *
 * <p>{@code large_384} is fine-tuned at 384x384; the paper does not state its window size, so the
 * variant uses 12, like Swin-L. {@code tiny_no_ghost} has Hadamard attention only (Table 4); {@code
 * tiny_strict} implements Eq. 7 literally.
 */
public final class ElsaSwin extends SwinFamily {

    /**
     * Settings of an ELSA-Swin.
     *
     * @param elsaStages number of leading stages with ELSA; later stages use window attention
     * @param windowOrder {@code pad_then_shift} as in the official detection code, or {@code
     *     shift_then_pad} as in the official classifier, which also shrinks windows to smaller maps
     *     and shifts only along axes with more than one window
     * @param qkScale scale in window attention; empty for {@code 1 / sqrt(d)}
     */
    @Component("elsa_swin")
    @Variant(name = "tiny")
    @Variant(name = "small", settings = "depths: [2, 2, 18, 2], group_width: 8")
    @Variant(name = "base", settings = BASE + ", group_width: 8")
    @Variant(name = "large", settings = LARGE + ", group_width: 8")
    @Variant(
            name = "large_384",
            settings = {LARGE, "group_width: 8", "window_size: 12", "pretrain_img_size: 384"})
    @Variant(name = "tiny_no_ghost", settings = "gamma: 0")
    @Variant(name = "tiny_strict", settings = "form: strict")
    public record Config(
            @Default("tiny") String variant,
            @Default("96") int embedDim,
            @Default("[3, 6, 12, 24]") List<Integer> numHeads,
            @Default("3") int elsaStages,
            @Default("7") int windowSize,
            @Default("pad_then_shift") Order windowOrder,
            Optional<Double> qkScale,
            @Default("4") double mlpRatio,
            @Default("true") boolean qkvBias,
            @Default("true") boolean patchNorm,
            @Default("false") boolean ape,
            @Default("224") int pretrainImgSize,
            @Unwrapped Elsa.Config elsa,
            @Unwrapped StageSettings stages)
            implements SwinFamily.Config {

        public Config {
            numHeads = ImmutableList.copyOf(numHeads);
            checks(embedDim, numHeads, mlpRatio)
                    .inRange("elsa_stages", elsaStages, 0, STAGES)
                    .inRange("window_size", windowSize, 1, 128)
                    .inRange("qk_scale", qkScale, 0, 1000)
                    .inRange("pretrain_img_size", pretrainImgSize, 4, 16384)
                    .throwIfAny();
            checkHeads(numHeads, embedDim, windowSize);
        }

        @Override
        public CheckpointRules checkpointRules() {
            return ElsaCheckpoints.RULES;
        }

        @Override
        public ElsaSwin build() {
            return new ElsaSwin(this);
        }
    }

    public ElsaSwin(Config config) {
        super(config);
        addBlocks(config, (stage, block) -> attention(config, stage, block));
        addOutputNormsAndFreeze();
    }

    private static Layer attention(Config config, int stage, int block) {
        return stage < config.elsaStages()
                ? new Elsa(
                        new Elsa.Widths(config.channels(stage)),
                        config.numHeads().get(stage),
                        config.qkvBias(),
                        config.elsa())
                : new LocalAttention(config, stage, block);
    }

    /**
     * Window attention in the layout of the official code: values precede queries and keys, and the
     * bias table is indexed by key minus query.
     */
    private static final class LocalAttention extends Layer {

        private final Parameter biases;
        private final Linear preProj;
        private final Linear postProj;
        private final Config config;
        private final int shift;
        private final WindowAttention.Packing packing;

        LocalAttention(Config config, int stage, int block) {
            this.config = config;
            packing = new WindowAttention.Packing(1, 2, 0, config.qkScale());
            shift = block % 2 == 0 ? 0 : config.windowSize() / 2;
            long side = 2L * config.windowSize() - 1;
            int channels = config.channels(stage);
            biases =
                    parameter(
                            "rb",
                            new Shape(config.numHeads().get(stage), side * side),
                            WeightInit.truncatedNormal(0.02));
            preProj = add("pre_proj", new Linear(channels, 3 * channels, config.qkvBias()));
            postProj = add("post_proj", new Linear(channels, channels));
        }

        @Override
        protected NDArray forward(NDArray x) {
            Windows windows =
                    Windows.over(x.getShape(), config.windowSize(), shift, config.windowOrder());
            NDArray fromKeyToQuery = biases.getArray().flip(1).transpose();
            return postProj.apply(
                    WindowAttention.attend(windows, x, preProj, packing, fromKeyToQuery));
        }
    }
}
