package dev.saccade.heads.segmentation;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;
import java.util.Optional;

/**
 * Convolutions on one level (Long et al. 2015), like mmsegmentation's {@code FCNHead}; the usual
 * auxiliary head of {@link UperNetHead}.
 */
public final class FcnHead extends DecodeHead {

    /**
     * Settings of an FCN head.
     *
     * @param numConvs if 0, the level must have {@code channels} channels
     * @param concatInput whether to concatenate the input and convolve once more
     */
    @Component("fcn")
    public record Config(
            @Default("2") int inIndex,
            @Default("256") int channels,
            @Default("1") int numConvs,
            @Default("3") int kernelSize,
            @Default("false") boolean concatInput,
            @Default("0.1") double dropoutRatio,
            @Default("sync_bn") Norm norm,
            @Default("false") boolean alignCorners,
            @Default("{loss_weight: 0.4}") PixelCrossEntropy lossDecode)
            implements SegmentationHead.Config {

        public Config {
            checks(channels, dropoutRatio)
                    .inRange("in_index", inIndex, 0, 15)
                    .inRange("num_convs", numConvs, 0, 100)
                    .inRange("kernel_size", kernelSize, 1, 71)
                    .throwIfAny();
            Checks.require(kernelSize % 2 == 1, "kernel_size", kernelSize, "an odd number");
        }

        @Override
        public FcnHead build(List<FeatureInfo> features, int numClasses) {
            return new FcnHead(this, features, numClasses);
        }
    }

    private final Config config;
    private final Sequential convs = new Sequential();
    private final Optional<ConvModule> convCat;
    private final Layer classifier;

    public FcnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config.alignCorners(), config.lossDecode(), numClasses);
        this.config = config;
        int in = select(features, List.of(config.inIndex())).get(0).channels();
        int width = config.channels();
        Checks.require(
                config.numConvs() > 0 || in == width,
                "channels",
                width,
                "%s, as in the input level, because num_convs is 0",
                in);
        for (int i = 0; i < config.numConvs(); i++) {
            convs.append(config.norm().conv(i == 0 ? in : width, width, config.kernelSize()));
        }
        add("convs", convs);
        ConvModule joined = config.norm().conv(in + width, width, config.kernelSize());
        convCat = when(config.concatInput(), () -> add("conv_cat", joined));
        classifier = add("", classifier(width, numClasses, config.dropoutRatio()));
    }

    @Override
    public NDArray logits(FeaturePyramid features) {
        NDArray level = features.get(config.inIndex());
        NDArray x = convs.apply(level);
        if (convCat.isPresent()) {
            x = convCat.get().apply(level.concat(x, 1));
        }
        return classifier.apply(x);
    }
}
