package dev.saccade.heads.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * UperNet head (Xiao et al. 2018), like mmsegmentation's {@code UPerHead}: pyramid pooling of the
 * coarsest level, FPN, and fusion of all levels at the finest.
 */
public final class UperNetHead extends DecodeHead {

    /**
     * Settings of a UperNet head; with batch normalization, pool scale 1 requires training batches
     * of at least two images.
     */
    @Component("upernet")
    public record Config(
            @Default("[0, 1, 2, 3]") List<Integer> inIndex,
            @Default("[1, 2, 3, 6]") List<Integer> poolScales,
            @Default("512") int channels,
            @Default("0.1") double dropoutRatio,
            @Default("sync_bn") Norm norm,
            @Default("false") boolean alignCorners,
            PixelCrossEntropy lossDecode)
            implements SegmentationHead.Config {

        public Config {
            inIndex = ImmutableList.copyOf(inIndex);
            poolScales = ImmutableList.copyOf(poolScales);
            checks(channels, dropoutRatio)
                    .size("in_index", inIndex, 1, 16)
                    .each("in_index", inIndex, 0, 15)
                    .size("pool_scales", poolScales, 0, 40)
                    .each("pool_scales", poolScales, 1, 60)
                    .throwIfAny();
        }

        @Override
        public UperNetHead build(List<FeatureInfo> features, int numClasses) {
            return new UperNetHead(this, features, numClasses);
        }
    }

    private final Config config;
    private final List<Sequential> pspModules = new ArrayList<>();
    private final ConvModule bottleneck;
    private final List<ConvModule> lateralConvs = new ArrayList<>();
    private final List<ConvModule> fpnConvs = new ArrayList<>();
    private final ConvModule fpnBottleneck;
    private final Layer classifier;

    public UperNetHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config.alignCorners(), config.lossDecode(), numClasses);
        this.config = config;
        List<FeatureInfo> levels = select(features, config.inIndex());
        int width = config.channels();
        int scales = config.poolScales().size();
        int coarsest = levels.get(levels.size() - 1).channels();
        for (int i = 0; i < scales; i++) {
            int scale = config.poolScales().get(i);
            Sequential module =
                    new Sequential()
                            .then(x -> Functional.adaptiveAvgPool2d(x, scale))
                            .append(conv(coarsest, 1));
            pspModules.add(add("psp_modules." + i, module));
        }
        bottleneck = add("bottleneck", conv(coarsest + scales * width, 3));
        for (int i = 0; i < levels.size() - 1; i++) {
            lateralConvs.add(add("lateral_convs." + i, conv(levels.get(i).channels(), 1)));
            fpnConvs.add(add("fpn_convs." + i, conv(width, 3)));
        }
        fpnBottleneck = add("fpn_bottleneck", conv(levels.size() * width, 3));
        classifier = add("", classifier(width, numClasses, config.dropoutRatio()));
    }

    private ConvModule conv(int in, int kernel) {
        return config.norm().conv(in, config.channels(), kernel);
    }

    @Override
    public NDArray logits(FeaturePyramid features) {
        List<NDArray> maps = laterals(features);
        for (int i = maps.size() - 1; i > 0; i--) {
            NDArray finer = maps.get(i - 1);
            maps.set(i - 1, Interpolation.upsampleAdd(finer, maps.get(i), config.alignCorners()));
        }
        return classifier.apply(fpnBottleneck.forwardConcat(maps.size(), i -> output(maps, i)));
    }

    private NDArray output(List<NDArray> maps, int i) {
        boolean coarsest = i == fpnConvs.size();
        NDArray map = coarsest ? maps.get(i) : fpnConvs.get(i).apply(maps.get(i));
        return i == 0 && !coarsest
                ? map
                : Interpolation.resizeTo(maps.get(0), map, config.alignCorners());
    }

    private List<NDArray> laterals(FeaturePyramid features) {
        List<NDArray> laterals = new ArrayList<>();
        for (int i = 0; i < lateralConvs.size(); i++) {
            laterals.add(lateralConvs.get(i).apply(level(features, i)));
        }
        laterals.add(pooled(level(features, laterals.size())));
        return laterals;
    }

    private NDArray level(FeaturePyramid features, int i) {
        return features.get(config.inIndex().get(i));
    }

    private NDArray pooled(NDArray coarsest) {
        NDList scales = new NDList(coarsest);
        for (Sequential module : pspModules) {
            NDArray y = module.apply(coarsest);
            scales.add(Interpolation.resizeTo(coarsest, y, config.alignCorners()));
        }
        return bottleneck.apply(Tensors.concat(scales, 1));
    }
}
