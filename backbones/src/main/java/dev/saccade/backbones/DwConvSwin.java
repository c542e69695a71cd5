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
import dev.saccade.core.ops.MultiplyAdds;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Swin Transformer with a depth-wise convolution between two linear layers in place of attention
 * (Zhou et al. 2021, ELSA, the rows "DwConv" and Figure 2, where channels share filters as the
 * channels of a head share attention).
 *
 * <p>There is no public code; layer normalisations and feed-forward layers are as in Swin, and the
 * number of parameters and multiply-adds is that of the paper.
 */
public final class DwConvSwin extends StagedTransformer {

    private static final ImmutableMap<String, Optional<List<Integer>>> VARIANTS =
            ImmutableMap.of(
                    "tiny", Optional.empty(),
                    "tiny_heads_1", Optional.of(List.of(1, 1, 1, 1)),
                    "tiny_heads_1x", Optional.of(List.of(3, 6, 12, 24)),
                    "tiny_heads_2x", Optional.of(List.of(6, 12, 24, 48)));

    /**
     * The hyper-parameters of a DwConv-Swin.
     *
     * @param variant the member of the family that the other keys start from
     * @param embedDim channels of the first stage; the others double it
     * @param depths blocks of each stage
     * @param numHeads heads of each stage, whose channels share a filter; none for a filter of its
     *     own for each channel
     * @param kernelSize side of the filters, odd
     * @param mlpRatio hidden channels of the feed-forward layers over channels
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
            Optional<List<Integer>> numHeads,
            int kernelSize,
            double mlpRatio,
            double dropPathRate,
            List<Integer> outIndices,
            int frozenStages,
            boolean activationCheckpointing)
            implements StagedTransformer.Config {

        /** DwConv-Swin-T. */
        public Config() {
            this("tiny");
        }

        /** A member of the family. */
        public Config(String variant) {
            this(
                    variant,
                    96,
                    List.of(2, 2, 6, 2),
                    Variants.get(VARIANTS, variant),
                    7,
                    4,
                    0.2,
                    List.of(0, 1, 2, 3),
                    -1,
                    false);
        }

        /** Checks the values. */
        public Config {
            depths = ImmutableList.copyOf(depths);
            numHeads = numHeads.map(ImmutableList::copyOf);
            outIndices = ImmutableList.copyOf(outIndices);
            List<Integer> heads = numHeads.orElse(List.of(1, 1, 1, 1));
            StagedTransformer.checks(depths, dropPathRate, outIndices, frozenStages)
                    .within("embed_dim", embedDim, 1, 8192)
                    .size("num_heads", heads, STAGES, STAGES)
                    .each("num_heads", heads, 1, 8192)
                    .within("kernel_size", kernelSize, 1, 71)
                    .within("mlp_ratio", mlpRatio, 0.1, 100)
                    .throwIfAny();
            StagedTransformer.checkHeads(heads, embedDim);
            Checks.require(kernelSize % 2 == 1, "kernel_size", kernelSize, "an odd number");
        }

        @Override
        public String type() {
            return "dwconv_swin";
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
        public DwConvSwin build() {
            return new DwConvSwin(this);
        }
    }

    /** Makes a DwConv-Swin without weights. */
    public DwConvSwin(Config config) {
        super(config);
        setStem(add("patch_embed", new PatchEmbed(3, config.embedDim(), 4, true)));
        addSwinStages((stage, block) -> block(config, stage, block));
        addOutputNorms(1e-5f);
        freezeStages();
    }

    private static TransformerBlock block(Config config, int stage, int block) {
        int channels = config.channels(stage);
        int filters = config.numHeads().map(heads -> heads.get(stage)).orElse(channels);
        return new TransformerBlock(
                channels,
                new Convolution(channels, filters, config.kernelSize()),
                config.mlpRatio(),
                config.dropPathRate(stage, block),
                key(stage, block));
    }

    /** Linear, depth-wise convolution, linear. */
    static final class Convolution extends Layer {

        private final Linear preProj;
        private final SharedDepthwise conv;
        private final Linear postProj;

        Convolution(int channels, int filters, int kernel) {
            preProj = add("pre_proj", new Linear(channels, channels));
            conv = add("conv", new SharedDepthwise(channels, filters, kernel));
            postProj = add("post_proj", new Linear(channels, channels));
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(() -> postProj.forward(conv.forward(preProj.forward(x))));
        }
    }

    /** A depth-wise convolution of tokens in which as many channels share each filter. */
    private static final class SharedDepthwise extends Layer {

        private static final ScriptTemplate CONVOLVE =
                ScriptTemplate.of(
                        "(x: Tensor, filters: Tensor, bias: Tensor) -> Tensor",
                        """
                        c = torch.size(x, 3)
                        each = torch.repeat_interleave(filters, c // torch.size(filters, 0), 0)
                        map = torch.permute(x, [0, 3, 1, 2])
                        pad = [%1$d // 2, %1$d // 2]
                        y = torch.conv2d(map, each, bias, [1, 1], pad, [1, 1], c)
                        return torch.permute(y, [0, 2, 3, 1])
                        """);

        private final int kernel;
        private final Parameter weight;
        private final Parameter bias;

        SharedDepthwise(int channels, int filters, int kernel) {
            this.kernel = kernel;
            WeightInit uniform = WeightInit.uniform(1.0 / kernel);
            weight = parameter("weight", new Shape(filters, 1, kernel, kernel), uniform);
            bias = parameter("bias", new Shape(channels), uniform);
        }

        @Override
        public NDArray forward(NDArray x) {
            MultiplyAdds.add(x.size() * kernel * kernel);
            return CONVOLVE.with(kernel).run(x, weight.getArray(), bias.getArray());
        }
    }
}
