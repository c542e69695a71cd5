package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.ElsaAttention;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.WindowAttention;
import dev.saccade.core.ops.Windows;
import dev.saccade.core.ops.Windows.Order;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * ELSA-Swin (Zhou et al. 2021): a Swin Transformer whose first three stages attend to the
 * neighbourhood of each token by {@link Elsa} instead of to windows, in the form of its official
 * detection and segmentation code, whose names its parameters have.
 */
public final class ElsaSwin extends StagedTransformer {

    private record Size(int embedDim, int depth, int heads, int groupWidth) {}

    private static final ImmutableMap<String, Size> VARIANTS =
            ImmutableMap.of(
                    "tiny", new Size(96, 6, 3, 4),
                    "small", new Size(96, 18, 3, 8),
                    "base", new Size(128, 18, 4, 8),
                    "large", new Size(192, 18, 6, 8));

    /**
     * The hyper-parameters of an ELSA-Swin.
     *
     * @param variant the published member of the family that the other keys start from
     * @param embedDim channels of the first stage; the others double it
     * @param depths blocks of each stage
     * @param numHeads heads of each stage
     * @param elsaStages how many stages, from the first, have ELSA; the others have windows
     * @param elsaKernel side of the neighbourhood, odd
     * @param dilation distance between neighbours
     * @param groupWidth channels of a group of the convolution that makes the weights; they must
     *     fit the checkpoint, and tiny's are others than all others'
     * @param lam exponent λ of the ghost head's factors; at 0 it has none
     * @param gamma factor γ of the ghost head's summands; at 0 it has none
     * @param elsaScale factor of the products of queries and keys of ELSA
     * @param form how these become logits: as in all models released, or by the paper's Eq. 7
     * @param windowSize tokens along a side of a window
     * @param windowOrder whether maps are padded before they are shifted, as in the official
     *     detection code, or after, which also shrinks windows to smaller maps and shifts only
     *     along axes of more than one window, as the official classifier does
     * @param qkScale factor of the products of queries and keys of windows; {@code 1 / sqrt(d)} for
     *     heads of d channels, if there is none
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
            int elsaStages,
            int elsaKernel,
            int dilation,
            int groupWidth,
            int lam,
            double gamma,
            double elsaScale,
            Elsa.Form form,
            int windowSize,
            Order windowOrder,
            Optional<Double> qkScale,
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

        /** ELSA-Swin-T. */
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
                    3,
                    7,
                    1,
                    size.groupWidth,
                    0,
                    1,
                    1,
                    Elsa.Form.RELEASED,
                    7,
                    Order.PAD_THEN_SHIFT,
                    Optional.empty(),
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
                    .within("elsa_stages", elsaStages, 0, STAGES)
                    .within("elsa_kernel", elsaKernel, 1, 49)
                    .within("dilation", dilation, 1, 100)
                    .within("group_width", groupWidth, 1, 8192)
                    .within("lam", lam, -10, 10)
                    .within("gamma", gamma, -1000, 1000)
                    .within("elsa_scale", elsaScale, 0, 1000)
                    .within("window_size", windowSize, 1, 128)
                    .within("qk_scale", qkScale, 0, 1000)
                    .within("mlp_ratio", mlpRatio, 0.1, 100)
                    .within("pretrain_img_size", pretrainImgSize, 4, 16384)
                    .throwIfAny();
            StagedTransformer.checkHeads(numHeads, embedDim);
            StagedTransformer.checkWindows(numHeads, windowSize);
            Checks.require(elsaKernel % 2 == 1, "elsa_kernel", elsaKernel, "an odd number");
            Checks.require(
                    elsaKernel / 2 * dilation <= MOST_REACH,
                    "dilation",
                    dilation,
                    "neighbours at most %s tokens away with an elsa_kernel of %s",
                    MOST_REACH,
                    elsaKernel);
        }

        @Override
        public String type() {
            return "elsa_swin";
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
        public ElsaSwin build() {
            return new ElsaSwin(this);
        }

        private Elsa.Config elsa(int stage) {
            int channels = channels(stage);
            return new Elsa.Config(
                    channels,
                    channels,
                    Elsa.Config.queryChannels(channels),
                    numHeads.get(stage),
                    groupWidth,
                    1,
                    qkvBias,
                    elsaScale,
                    form,
                    new ElsaAttention(elsaKernel, dilation, lam, gamma));
        }
    }

    private static final float EPS = 1e-5f;
    private static final int MOST_REACH = 100;

    /** Makes an ELSA-Swin without weights. */
    public ElsaSwin(Config config) {
        super(config);
        setStem(
                add(
                        "",
                        new Swin.Stem(
                                config.embedDim(),
                                config.patchNorm(),
                                config.ape(),
                                config.pretrainImgSize())));
        addSwinStages((stage, block) -> block(config, stage, block));
        addOutputNorms(EPS);
        freezeStages();
    }

    private static TransformerBlock block(Config config, int stage, int block) {
        return new TransformerBlock(
                config.channels(stage),
                stage < config.elsaStages()
                        ? new Elsa(config.elsa(stage))
                        : new LocalAttention(config, stage, block),
                config.mlpRatio(),
                config.dropPathRate(stage, block),
                key(stage, block));
    }

    /**
     * Window attention in the layout of the official code: values come before queries and keys, and
     * the bias table counts from the query to the key.
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
        public NDArray forward(NDArray x) {
            return Scope.array(
                    () -> {
                        Windows windows =
                                Windows.over(
                                        x.getShape(),
                                        config.windowSize(),
                                        shift,
                                        config.windowOrder());
                        NDArray fromKeyToQuery = biases.getArray().flip(1).transpose();
                        return postProj.forward(
                                WindowAttention.of(windows, x, preProj, packing, fromKeyToQuery));
                    });
        }
    }
}
