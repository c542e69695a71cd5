package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.attention.KeyOnlyAttention;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * LinGlo ("Rethinking Query-Key Pairwise Interactions in Vision Transformers"): {@linkplain
 * KeyOnlyAttention key-only attention}, whose cost is linear in the number of tokens, and MLPs with
 * a {@linkplain PositionEncoding position encoding}.
 *
 * <p>No code was published. Choices where the paper is silent:
 *
 * <ul>
 *   <li>All four attention matrices are channels by channels; each branch of the position encoding
 *       has a batch normalization; layer normalizations are placed as in ConvNeXt, with its eps of
 *       1e-6.
 *   <li>Table 5 describes the convolutional block of C-C-H-H and C-H-H-H as "with SE". It is an
 *       {@link MbConv}, as in CoAtNet, whose layout names the table uses. C-H-H-H has 0.02 M and
 *       C-C-H-H 0.15 M fewer parameters than b0, as in the paper (3.4, 3.3 and, for b0, 3.4 M).
 *   <li>Section 5.4 states neither the image size of the position tables (here 224) nor whether
 *       PVT's class token row remains (here it does not). The model without hierarchy has the
 *       depths and MLP ratios of b0.
 * </ul>
 */
public final class LinGlo extends StagedTransformer {

    /** Position of the normalization in down-sampling layers. */
    public enum DownNorm {
        /** Before the convolution, as in ConvNeXt. */
        PRE,
        /** After the convolution, as in PVTv2. */
        POST
    }

    public enum DownSampling {
        /** Overlapping convolutions: 7x7 with stride 4, then 3x3 with stride 2. */
        CONV,
        /** Patch embeddings with absolute positions: 4x4, then 2x2. */
        PATCH,
        /** One 16x16 patch embedding with absolute positions; all stages have stride 16. */
        NONE
    }

    public enum AttentionType {
        /** Uses {@link KeyOnlyAttention}. */
        KEY_ONLY,
        /** Multi-head self-attention with quadratic cost. */
        DOT_PRODUCT
    }

    /** Skip connection of the position encoding. */
    public enum Skip {
        NONE,
        IDENTITY,
        /** Batch normalization of the input. */
        BN
    }

    /**
     * Settings of a LinGlo.
     *
     * @param convStages number of leading stages with convolutional blocks instead of attention
     * @param branches parallel convolutions of the position encoding; 0 for no position encoding
     * @param deploy whether each position encoding is one convolution with bias; requires weights
     *     from {@link LinGlo#deployWeights}
     */
    @Component("linglo")
    @Variant(name = "b0", settings = B0)
    @Variant(name = "b1")
    @Variant(name = "b2", settings = "depths: [3, 5, 9, 3]")
    @Variant(name = "b0_cchh", settings = B0 + ", conv_stages: 2")
    @Variant(name = "b0_chhh", settings = B0 + ", conv_stages: 1")
    @Variant(name = "b0_dot_product", settings = B0 + ", attention: dot_product")
    @Variant(name = "b0_cpe", settings = B0 + ", branches: 1, skip: none")
    @Variant(name = "b0_r_cpe", settings = B0 + ", branches: 1")
    @Variant(name = "b0_p_cpe", settings = B0 + ", skip: none")
    @Variant(name = "b0_without_c", settings = B0 + ", branches: 0, down_sampling: patch")
    @Variant(
            name = "without_ch",
            settings = {
                "embed_dims: [150, 150, 150, 150]",
                "num_heads: [3, 3, 3, 3]",
                "branches: 0",
                "down_sampling: none"
            })
    public record Config(
            @Default("b1") String variant,
            @Default("[64, 128, 320, 512]") List<Integer> embedDims,
            @Default("[1, 2, 5, 8]") List<Integer> numHeads,
            @Default("[8, 8, 4, 4]") List<Integer> mlpRatios,
            @Default("0") int convStages,
            @Default("key_only") AttentionType attention,
            @Default("4") int branches,
            @Default("true") boolean branchBn,
            @Default("identity") Skip skip,
            @Default("bn") BatchNormType norm,
            @Default("true") boolean attnBias,
            @Default("conv") DownSampling downSampling,
            @Default("pre") DownNorm downNorm,
            @Default("false") boolean deploy,
            @Unwrapped @Default("{depths: [2, 3, 3, 2], drop_path_rate: 0.1}") StageSettings stages)
            implements StagedTransformer.Config {

        public Config {
            embedDims = ImmutableList.copyOf(embedDims);
            numHeads = ImmutableList.copyOf(numHeads);
            mlpRatios = ImmutableList.copyOf(mlpRatios);
            new Checks()
                    .each("embed_dims", embedDims, STAGES, 1, 65536)
                    .each("num_heads", numHeads, STAGES, 1, 8192)
                    .each("mlp_ratios", mlpRatios, STAGES, 1, 100)
                    .inRange("conv_stages", convStages, 0, STAGES)
                    .inRange("branches", branches, 0, 100)
                    .throwIfAny();
            StagedTransformer.checkHeads(numHeads, embedDims);
            Checks.require(
                    downSampling != DownSampling.NONE || Set.copyOf(embedDims).size() == 1,
                    "embed_dims",
                    embedDims,
                    "the same number in each stage with down_sampling: none");
        }

        @Override
        public int channels(int stage) {
            return embedDims.get(stage);
        }

        @Override
        public int stride(int stage) {
            return downSampling == DownSampling.NONE
                    ? LinGloDownSampling.FLAT_PATCH
                    : StagedTransformer.Config.super.stride(stage);
        }

        @Override
        public LinGlo build() {
            return new LinGlo(this);
        }
    }

    private static final String B0 = "embed_dims: [32, 64, 160, 256]";
    static final float EPS = 1e-6f;

    private final Map<String, PositionEncoding> encodings = new LinkedHashMap<>();

    public LinGlo(Config config) {
        super(config);
        downSampling(config, 0).ifPresent(this::setStem);
        addStages((s, b) -> block(config, s, b), s -> downSampling(config, s + 1));
        addOutputNorms(EPS);
        freezeStages();
    }

    private Optional<Layer> downSampling(Config config, int stage) {
        return LinGloDownSampling.before(stage, config).map(layer -> add("", layer));
    }

    private Layer block(Config config, int stage, int block) {
        int channels = config.channels(stage);
        double dropPath = config.stages().dropPathRate(stage, block);
        String name = "stage" + (stage + 1) + "." + block;
        if (stage < config.convStages()) {
            return add(name, new MbConv(channels, config.norm(), dropPath));
        }
        int hidden = channels * config.mlpRatios().get(stage);
        int heads = config.numHeads().get(stage);
        Layer attention =
                config.attention() == AttentionType.KEY_ONLY
                        ? new Attention(channels, heads, config.attnBias())
                        : new GlobalAttention(
                                channels, heads, config.attnBias(), config.attnBias());
        Layer mlp =
                config.branches() == 0
                        ? new Mlp(channels, hidden)
                        : positionalMlp(channels, hidden, encoding(config, hidden, name));
        return add(name, new TransformerBlock(channels, attention, mlp, EPS, dropPath));
    }

    private static Layer positionalMlp(int channels, int hidden, Layer encoding) {
        return new Sequential()
                .append("fc1", new Linear(channels, hidden))
                .append("cpe", encoding)
                .then(Functional::gelu)
                .append("fc2", new Linear(hidden, channels));
    }

    private Layer encoding(Config config, int channels, String block) {
        if (config.deploy()) {
            // All branches merged into one convolution.
            return new Sequential()
                    .then(StagedTransformer::toMap)
                    .append("dw", PositionEncoding.convolution(channels, WeightInit.ZEROS))
                    .then(StagedTransformer::toTokens);
        }
        PositionEncoding encoding =
                new PositionEncoding(
                        channels,
                        config.branches(),
                        config.branchBn(),
                        config.skip(),
                        config.norm());
        encodings.put(block + ".mlp.cpe.", encoding);
        return encoding;
    }

    /**
     * Returns the weights for {@code deploy: true}, keyed by name. Merged weights are new arrays
     * owned by the caller.
     */
    public Map<String, NDArray> deployWeights() {
        Map<String, NDArray> weights = new LinkedHashMap<>();
        namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (encodings.keySet().stream().noneMatch(name::startsWith)) {
                                weights.put(name, parameter.getArray());
                            }
                        });
        encodings.forEach(
                (prefix, encoding) -> {
                    NDList merged = encoding.mergedWithoutGradients();
                    weights.put(prefix + "dw.weight", merged.get(0));
                    weights.put(prefix + "dw.bias", merged.get(1));
                });
        return weights;
    }

    /** Parameters of {@link KeyOnlyAttention}. */
    private static final class Attention extends Layer {

        private final Parameter saliency;
        private final List<Linear> products;

        Attention(int channels, int heads, boolean biased) {
            saliency =
                    parameter(
                            "saliency",
                            new Shape(heads, channels / heads),
                            WeightInit.truncatedNormal(0.02));
            products =
                    Stream.of("k", "v", "u1", "u2")
                            .map(name -> add(name, new Linear(channels, channels, biased)))
                            .toList();
        }

        @Override
        protected NDArray forward(NDArray x) {
            return KeyOnlyAttention.attend(
                    x,
                    saliency.getArray(),
                    products.stream().map(Linear::weight).toList(),
                    products.stream().flatMap(product -> product.bias().stream()).toList());
        }
    }
}
