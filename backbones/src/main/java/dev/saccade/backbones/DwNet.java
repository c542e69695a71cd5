package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.DropPath;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.attention.Windows;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;

/**
 * DWNet (Han et al. 2022): Swin Transformer with 1x1, depth-wise and 1x1 convolutions instead of
 * attention, each with batch normalization. The dynamic form predicts the filters from each image.
 *
 * <p>Parameter names and padding follow the official detection code: maps are padded at the bottom
 * and right to multiples of the kernel, and batch statistics include the padding. Outputs have
 * batch normalizations.
 */
public final class DwNet extends SwinFamily {

    /**
     * Settings of a DWNet.
     *
     * @param windowSize kernel size of the depth-wise convolutions, odd
     * @param dynamic whether filters are predicted; requires batches of at least two images in
     *     training
     */
    @Component("dwnet")
    @Variant(name = "tiny")
    @Variant(name = "base", settings = "embed_dim: 128, depths: [2, 2, 18, 2], drop_path_rate: 0.3")
    @Variant(name = "dynamic_tiny", settings = "dynamic: true")
    @Variant(
            name = "dynamic_base",
            settings = {
                "dynamic: true",
                "embed_dim: 128",
                "depths: [2, 2, 18, 2]",
                "drop_path_rate: 0.3"
            })
    public record Config(
            @Default("tiny") String variant,
            @Default("96") int embedDim,
            @Default("7") int windowSize,
            @Default("4") double mlpRatio,
            @Default("false") boolean dynamic,
            @Default("bn") BatchNormType norm,
            @Default("true") boolean patchNorm,
            @Default("false") boolean ape,
            @Default("224") int pretrainImgSize,
            @Unwrapped StageSettings stages)
            implements SwinFamily.Config {

        public Config {
            new Checks()
                    .inRange("embed_dim", embedDim, 1, 8192)
                    .inRange("window_size", windowSize, 1, 71)
                    .inRange("mlp_ratio", mlpRatio, 0.1, 100)
                    .inRange("pretrain_img_size", pretrainImgSize, 4, 16384)
                    .throwIfAny();
            Checks.require(windowSize % 2 == 1, "window_size", windowSize, "an odd number");
            Checks.require(
                    !dynamic || embedDim % REDUCTION == 0,
                    "embed_dim",
                    embedDim,
                    "a multiple of 4 for dynamic filters");
        }

        @Override
        public DwNet build() {
            return new DwNet(this);
        }
    }

    private static final int REDUCTION = 4;

    public DwNet(Config config) {
        super(config);
        addStages(config, (stage, block) -> new Block(config, stage, block));
        addOutputNorms(channels -> batchNorm(channels, config.norm()));
        freezeStages();
    }

    private static Layer batchNorm(int channels, BatchNormType type) {
        return new Sequential()
                .then(StagedTransformer::toMap)
                .append("", new BatchNorm2d(channels, type))
                .then(StagedTransformer::toTokens);
    }

    /** Unlike in Swin, no normalization precedes the convolutions. */
    private static final class Block extends Layer {

        private final Windows padding;
        private final Layer convolutions;
        private final Layer norm;
        private final Mlp mlp;
        private final DropPath convolutionsDrop;
        private final DropPath mlpDrop;

        Block(Config config, int stage, int block) {
            int channels = config.channels(stage);
            padding = new Windows(config.windowSize(), 0);
            convolutions = add("attn2conv", convolutions(config, channels));
            norm = add("bn", batchNorm(channels, config.norm()));
            mlp = add("mlp", new Mlp(channels, (int) (channels * config.mlpRatio())));
            double rate = config.stages().dropPathRate(stage, block);
            convolutionsDrop = add("attn_drop_path", new DropPath(rate));
            mlpDrop = add("mlp_drop_path", new DropPath(rate));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray y = x.add(convolutionsDrop.apply(mixed(x)));
            return y.add(mlpDrop.apply(mlp.apply(norm.apply(y))));
        }

        private NDArray mixed(NDArray x) {
            return padding.restore(convolutions.apply(padding.arrange(x)), x.getShape());
        }
    }

    private static Layer convolutions(Config config, int channels) {
        int kernel = config.windowSize();
        BatchNormType type = config.norm();
        Layer depthwise =
                config.dynamic()
                        ? new DynamicDepthwise(channels, kernel, type)
                        : Conv2d.withDefaultInit(Geometry.depthwise(channels, kernel));
        return new Sequential()
                .then(StagedTransformer::toMap)
                .append("conv0", pointwise(channels, channels, false))
                .append("bn0", new BatchNorm2d(channels, type))
                .then(Functional::reluInPlace)
                .append("conv", depthwise)
                .append("bn", new BatchNorm2d(channels, type))
                .then(Functional::reluInPlace)
                .append("conv2", pointwise(channels, channels, false))
                .append("bn2", new BatchNorm2d(channels, type))
                .then(StagedTransformer::toTokens);
    }

    private static Conv2d pointwise(int in, int out, boolean bias) {
        WeightInit uniform = WeightInit.uniform(1 / Math.sqrt(in));
        return new Conv2d(new Geometry(in, out, 1), uniform, bias ? uniform : null);
    }

    /** Depth-wise convolution with filters predicted from the global average of its input. */
    static final class DynamicDepthwise extends Layer {

        /** Convolves image by image, to keep channels innermost in memory. */
        private static final ScriptTemplate CONVOLVE =
                ScriptTemplate.of(
                        "(x: Tensor, filters: Tensor, bias: Tensor) -> Tensor",
                        """
                        kernel = {kernel}
                        c = torch.size(x, 1)
                        maps = torch.split(x, 1)
                        kernels = torch.split(torch.reshape(filters, [-1, 1, kernel, kernel]), c)
                        pad = [kernel // 2, kernel // 2]
                        out = annotate(List[Tensor], [])
                        for i in range(torch.len(maps)):
                          y = torch.conv2d(maps[i], kernels[i], bias, [1, 1], pad, [1, 1], c)
                          _ = torch.append(out, y)
                        return torch.cat(out)
                        """);

        /** Computes the same result with a number of operators independent of the batch size. */
        private static final ScriptTemplate CONVOLVE_BY_OFFSET =
                ScriptTemplate.of(
                        "(x: Tensor, filters: Tensor, bias: Tensor) -> Tensor",
                        """
                        kernel = {kernel}
                        c = torch.size(x, 1)
                        h = torch.size(x, 2)
                        w = torch.size(x, 3)
                        r = kernel // 2
                        padded = torch.constant_pad_nd(x, [r, r, r, r])
                        weights = torch.unbind(torch.reshape(filters, [-1, c, 1, 1, kernel * kernel]), 4)
                        y = torch.reshape(bias, [1, c, 1, 1])
                        for i in range(kernel * kernel):
                          rows = torch.slice(padded, 2, i // kernel, i // kernel + h)
                          near = torch.slice(rows, 3, i % kernel, i % kernel + w)
                          y = torch.add(y, torch.mul(near, weights[i]))
                        return y
                        """);

        private final int kernel;
        private final Conv2d conv1;
        private final BatchNorm2d bn;
        private final Conv2d conv2;
        private final Parameter bias;

        DynamicDepthwise(int channels, int kernel, BatchNormType type) {
            this.kernel = kernel;
            int hidden = channels / REDUCTION;
            conv1 = add("conv1", pointwise(channels, hidden, false));
            bn = add("bn", new BatchNorm2d(hidden, type));
            conv2 = add("conv2", pointwise(hidden, channels * kernel * kernel, true));
            bias = parameter("bias", new Shape(channels), WeightInit.ZEROS);
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray hidden =
                    Functional.reluInPlace(bn.apply(conv1.apply(Functional.globalAvgPool2d(x))));
            ScriptTemplate form = Tracer.isRecording() ? CONVOLVE_BY_OFFSET : CONVOLVE;
            NDArray filters = conv2.apply(hidden);
            return MultiplyAdds.run(
                    filters.size() * x.getShape().slice(2).size(),
                    x,
                    x.getShape(),
                    () -> form.with(Map.of("kernel", kernel)).run(x, filters, bias.getArray()));
        }
    }
}
