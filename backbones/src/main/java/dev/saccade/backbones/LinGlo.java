package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Activations;
import dev.saccade.core.ops.KeyOnlyAttention;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.Unwrapped;
import dev.saccade.core.parts.Variant;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * LinGlo ("Rethinking Query-Key Pairwise Interactions in Vision Transformers"): {@linkplain
 * KeyOnlyAttention key-only attention}, whose cost grows linearly with the size of the image, and
 * feed-forward layers with a {@linkplain PositionEncoding position encoding} in between.
 *
 * <p>There is no code of the authors'. Where the paper leaves things open: all four matrices of the
 * attention are channels by channels, each branch of the position encoding has a batch
 * normalization, and layer normalizations stand where ConvNeXt has them, with its eps of 1e-6.
 */
public final class LinGlo extends StagedTransformer {

    /** Where the normalization of a down-sampling stands. */
    public enum DownNorm {
        /** Before the convolution, as in ConvNeXt. */
        PRE,
        /** After it, as in the second version of PVT. */
        POST
    }

    /**
     * The hyper-parameters of a LinGlo.
     *
     * @param variant the published member of the family that the other keys start from
     * @param embedDims channels of each stage
     * @param numHeads heads of each stage
     * @param mlpRatios hidden channels of the feed-forward layers of each stage over its channels
     * @param branches parallel convolutions of the position encoding
     * @param branchBn whether each of them has a batch normalization
     * @param skipBn whether the connection past them has one
     * @param norm what these are: bn, or sync_bn for statistics over the batches of all ranks
     * @param attnBias whether the four products of the attention have biases
     * @param downNorm where the normalization of the down-samplings between the stages stands
     * @param deploy whether the branches of the position encoding are one convolution with a bias,
     *     for weights from {@link LinGlo#deployWeights}
     * @param stages depths, stochastic depth, outputs and frozen stages
     */
    @Part("linglo")
    @Variant(name = "b0", settings = "embed_dims: [32, 64, 160, 256]")
    @Variant(name = "b1")
    @Variant(name = "b2", settings = "depths: [3, 5, 9, 3]")
    public record Config(
            @Default("b1") String variant,
            @Default("[64, 128, 320, 512]") List<Integer> embedDims,
            @Default("[1, 2, 5, 8]") List<Integer> numHeads,
            @Default("[8, 8, 4, 4]") List<Integer> mlpRatios,
            @Default("4") int branches,
            @Default("true") boolean branchBn,
            @Default("false") boolean skipBn,
            @Default("bn") BatchNormType norm,
            @Default("true") boolean attnBias,
            @Default("pre") DownNorm downNorm,
            @Default("false") boolean deploy,
            @Unwrapped @Default("{depths: [2, 3, 3, 2], drop_path_rate: 0.1}") StageSettings stages)
            implements StagedTransformer.Config {

        /** Checks the values. */
        public Config {
            embedDims = ImmutableList.copyOf(embedDims);
            numHeads = ImmutableList.copyOf(numHeads);
            mlpRatios = ImmutableList.copyOf(mlpRatios);
            new Checks()
                    .size("embed_dims", embedDims, STAGES, STAGES)
                    .each("embed_dims", embedDims, 1, 65536)
                    .size("num_heads", numHeads, STAGES, STAGES)
                    .each("num_heads", numHeads, 1, 8192)
                    .size("mlp_ratios", mlpRatios, STAGES, STAGES)
                    .each("mlp_ratios", mlpRatios, 1, 100)
                    .within("branches", branches, 1, 100)
                    .throwIfAny();
            StagedTransformer.checkHeads(numHeads, embedDims);
        }

        @Override
        public int channels(int stage) {
            return embedDims.get(stage);
        }

        @Override
        public LinGlo build() {
            return new LinGlo(this);
        }
    }

    private static final float EPS = 1e-6f;

    private final Map<String, PositionEncoding> encodings = new LinkedHashMap<>();

    /** Makes a LinGlo without weights. */
    public LinGlo(Config config) {
        super(config);
        setStem(add("", new Stem(config.channels(0))));
        for (int s = 0; s < STAGES; s++) {
            int stage = s;
            addStage(
                    each(config.stages().depths().get(s), b -> block(config, stage, b)),
                    s == STAGES - 1
                            ? Optional.empty()
                            : Optional.of(add("down" + (s + 2), new Downsampling(config, s + 1))));
        }
        addOutputNorms(EPS);
        freezeStages();
    }

    private Layer block(Config config, int stage, int block) {
        int channels = config.channels(stage);
        int hidden = channels * config.mlpRatios().get(stage);
        String name = "stage" + (stage + 1) + "." + block;
        PositionalMlp mlp = new PositionalMlp(channels, hidden, encoding(config, hidden, name));
        return add(
                name,
                new TransformerBlock(
                        channels,
                        new Attention(channels, config.numHeads().get(stage), config.attnBias()),
                        mlp,
                        EPS,
                        config.stages().dropPathRate(stage, block)));
    }

    private Layer encoding(Config config, int channels, String block) {
        if (config.deploy()) {
            return new MergedPositionEncoding(channels);
        }
        PositionEncoding encoding =
                new PositionEncoding(
                        channels,
                        config.branches(),
                        config.branchBn(),
                        config.skipBn(),
                        config.norm());
        encodings.put(block + ".mlp.cpe.", encoding);
        return encoding;
    }

    @Override
    public void fuse() {
        encodings.values().forEach(PositionEncoding::fuse);
    }

    /**
     * Returns the weights of the same network with {@code deploy} set, by their names.
     *
     * @return the parameters of this network, and for the branches of every position encoding new
     *     arrays that belong to the caller
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
                    NDList merged = NoGrad.call(encoding::merged);
                    weights.put(prefix + "dw.weight", merged.get(0));
                    weights.put(prefix + "dw.bias", merged.get(1));
                });
        return weights;
    }

    /** Images to tokens of stride 4, by patches that overlap. */
    private static final class Stem extends Layer {

        private final Conv2d conv;
        private final LayerNorm norm;

        Stem(int channels) {
            conv =
                    add(
                            "down1.conv",
                            convolution(new Geometry(3, channels, 7).stride(4).padding(3)));
            norm = add("stemNorm", new LayerNorm(channels, EPS));
        }

        @Override
        public NDArray forward(NDArray images) {
            return Scope.array(() -> norm.forward(conv.forward(images).transpose(0, 2, 3, 1)));
        }
    }

    /** Tokens to those of the next stage, by patches that overlap. */
    private static final class Downsampling extends Layer {

        private final Conv2d conv;
        private final LayerNorm norm;
        private final boolean normalizesFirst;

        Downsampling(Config config, int stage) {
            int in = config.channels(stage - 1);
            int out = config.channels(stage);
            normalizesFirst = config.downNorm() == DownNorm.PRE;
            conv = convolution(new Geometry(in, out, 3).stride(2).padding(1));
            norm = add("norm", new LayerNorm(normalizesFirst ? in : out, EPS));
            add("conv", conv);
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(
                    () ->
                            normalizesFirst
                                    ? convolved(norm.forward(x))
                                    : norm.forward(convolved(x)));
        }

        private NDArray convolved(NDArray x) {
            return conv.forward(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1);
        }
    }

    private static Conv2d convolution(Geometry geometry) {
        return new Conv2d(geometry, WeightInit.kaimingNormal(), WeightInit.ZEROS);
    }

    /** The parameters of {@link KeyOnlyAttention}. */
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
        public NDArray forward(NDArray x) {
            return KeyOnlyAttention.attend(
                    x,
                    saliency.getArray(),
                    products.stream().map(Linear::weight).toList(),
                    products.stream().flatMap(product -> product.bias().stream()).toList());
        }
    }

    /** Feed-forward layers that encode positions before they activate. */
    private static final class PositionalMlp extends Layer {

        private final Linear fc1;
        private final Layer cpe;
        private final Linear fc2;

        PositionalMlp(int channels, int hidden, Layer encoding) {
            fc1 = add("fc1", new Linear(channels, hidden));
            cpe = add("cpe", encoding);
            fc2 = add("fc2", new Linear(hidden, channels));
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(() -> fc2.forward(activated(x)));
        }

        private NDArray activated(NDArray x) {
            return Scope.array(() -> Activations.gelu(encoded(x)));
        }

        private NDArray encoded(NDArray x) {
            return Scope.array(() -> cpe.forward(fc1.forward(x)));
        }
    }

    /** One convolution instead of all branches of a {@link PositionEncoding}. */
    private static final class MergedPositionEncoding extends Layer {

        private final Conv2d dw;

        MergedPositionEncoding(int channels) {
            dw = add("dw", PositionEncoding.convolution(channels, WeightInit.ZEROS));
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(() -> dw.forward(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1));
        }
    }
}
