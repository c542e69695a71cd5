package dev.saccade.heads.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * Semantic FPN head (Kirillov et al. 2019), like mmsegmentation's {@code FPNHead}: upsamples all
 * levels to the finest with convolutions and 2x resizing, and adds the results.
 */
public final class SemanticFpnHead extends DecodeHead {

    @Component("semantic_fpn")
    public record Config(
            @Default("[0, 1, 2, 3]") List<Integer> inIndex,
            @Default("128") int channels,
            @Default("0.1") double dropoutRatio,
            @Default("sync_bn") Norm norm,
            @Default("false") boolean alignCorners,
            PixelCrossEntropy lossDecode)
            implements SegmentationHead.Config {

        public Config {
            inIndex = ImmutableList.copyOf(inIndex);
            checks(channels, dropoutRatio)
                    .size("in_index", inIndex, 1, 16)
                    .each("in_index", inIndex, 0, 15)
                    .throwIfAny();
        }

        @Override
        public SemanticFpnHead build(List<FeatureInfo> features, int numClasses) {
            return new SemanticFpnHead(this, features, numClasses);
        }
    }

    private final Config config;
    private final List<Sequential> scaleHeads = new ArrayList<>();
    private final Layer classifier;

    public SemanticFpnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config.alignCorners(), config.lossDecode(), numClasses);
        this.config = config;
        List<FeatureInfo> levels = select(features, config.inIndex());
        for (int i = 0; i < levels.size(); i++) {
            Sequential head = scaleHead(levels.get(i), levels.get(0).stride());
            scaleHeads.add(add("scale_heads." + i, head));
        }
        classifier = add("", classifier(config.channels(), numClasses, config.dropoutRatio()));
    }

    private Sequential scaleHead(FeatureInfo level, int finest) {
        checkArgument(
                level.stride() >= finest,
                "in_index: got a level of stride %s after one of stride %s, expected the finest level first",
                level.stride(),
                finest);
        int doublings = 31 - Integer.numberOfLeadingZeros(level.stride() / finest);
        Sequential head = new Sequential();
        for (int k = 0; k < Math.max(1, doublings); k++) {
            int in = k == 0 ? level.channels() : config.channels();
            head.append(config.norm().conv(in, config.channels()));
            if (level.stride() != finest) {
                head.then(x -> Interpolation.upsample2x(x, config.alignCorners()));
            }
        }
        return head;
    }

    @Override
    public NDArray logits(FeaturePyramid features) {
        NDArray sum = scaled(0, features);
        for (int i = 1; i < scaleHeads.size(); i++) {
            sum = Interpolation.upsampleAdd(sum, scaled(i, features), config.alignCorners());
        }
        return classifier.apply(sum);
    }

    private NDArray scaled(int i, FeaturePyramid features) {
        return scaleHeads.get(i).apply(features.get(config.inIndex().get(i)));
    }
}
