package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Swin Transformer with a depth-wise convolution or a {@link DecoupledDynamicFilter} between two
 * linear layers instead of attention (Zhou et al. 2021, ELSA: rows "DwConv" and "DDF", and Figure
 * 2, where groups of channels share filters).
 *
 * <p>No code was published. Norms and MLPs are as in Swin; parameters and multiply-adds match the
 * paper.
 */
public final class DwConvSwin extends SwinFamily {

    /** Filters between the linear layers. */
    public enum Filters {
        /** The same filters at all positions of all images. */
        DEPTHWISE,
        /** Decoupled dynamic filters, predicted from the input. */
        DDF
    }

    /**
     * Settings of a DwConv-Swin.
     *
     * @param numHeads number of depth-wise filters per stage, shared by groups of channels; empty
     *     for one filter per channel
     * @param kernelSize odd
     */
    @Component("dwconv_swin")
    @Variant(name = "tiny")
    @Variant(name = "tiny_heads_1", settings = "num_heads: [1, 1, 1, 1]")
    @Variant(name = "tiny_heads_1x", settings = "num_heads: [3, 6, 12, 24]")
    @Variant(name = "tiny_heads_2x", settings = "num_heads: [6, 12, 24, 48]")
    @Variant(name = "ddf_tiny", settings = "filters: ddf")
    public record Config(
            @Default("tiny") String variant,
            @Default("96") int embedDim,
            @Default("depthwise") Filters filters,
            Optional<List<Integer>> numHeads,
            @Default("7") int kernelSize,
            @Default("4") double mlpRatio,
            @Unwrapped StageSettings stages)
            implements SwinFamily.Config {

        public Config {
            numHeads = numHeads.map(ImmutableList::copyOf);
            List<Integer> heads = numHeads.orElse(List.of(1, 1, 1, 1));
            checks(embedDim, heads, mlpRatio)
                    .inRange("kernel_size", kernelSize, 1, 71)
                    .throwIfAny();
            checkHeads(heads, embedDim);
            Checks.require(kernelSize % 2 == 1, "kernel_size", kernelSize, "an odd number");
            if (filters == Filters.DDF) {
                Checks.require(numHeads.isEmpty(), "num_heads", heads, "none with filters: ddf");
                DecoupledDynamicFilter.check(embedDim, kernelSize);
            }
        }

        @Override
        public DwConvSwin build() {
            return new DwConvSwin(this);
        }
    }

    public DwConvSwin(Config config) {
        super(config);
        addBlocks(config, (stage, block) -> mixer(config, stage));
        addOutputNormsAndFreeze();
    }

    private static Layer mixer(Config config, int stage) {
        int channels = config.channels(stage);
        int kernel = config.kernelSize();
        int filters = config.numHeads().map(heads -> heads.get(stage)).orElse(channels);
        return switch (config.filters()) {
            case DEPTHWISE -> convolution(channels, filters, kernel);
            case DDF -> between(channels, new DecoupledDynamicFilter(channels, kernel));
        };
    }

    static Layer convolution(int channels, int filters, int kernel) {
        return between(channels, new SharedDepthwise(channels, filters, kernel));
    }

    private static Layer between(int channels, Layer filters) {
        return new Sequential()
                .append("pre_proj", new Linear(channels, channels))
                .append("conv", filters)
                .append("post_proj", new Linear(channels, channels));
    }

    /** Depth-wise convolution of tokens whose filters are shared by groups of channels. */
    private static final class SharedDepthwise extends Layer {

        private static final ScriptTemplate CONVOLVE =
                ScriptTemplate.of(
                        "(x: Tensor, filters: Tensor, bias: Tensor) -> Tensor",
                        """
                        c = torch.size(x, 3)
                        each = torch.repeat_interleave(filters, c // torch.size(filters, 0), 0)
                        map = torch.permute(x, [0, 3, 1, 2])
                        pad = [{kernel} // 2, {kernel} // 2]
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
        protected NDArray forward(NDArray x) {
            return MultiplyAdds.run(
                    x.size() * kernel * kernel,
                    x,
                    x.getShape(),
                    () ->
                            CONVOLVE.with(Map.of("kernel", kernel))
                                    .run(x, weight.getArray(), bias.getArray()));
        }
    }
}
