package dev.saccade.heads.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.SegmentationHead;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.heads.Norm;

import java.util.ArrayList;
import java.util.List;

/**
 * The head of Semantic FPN (Kirillov et al. 2019), as mmsegmentation's {@code FPNHead}: convolves
 * and doubles each level of an FPN up to the size of the finest, and adds them.
 */
public final class SemanticFpnHead extends DecodeHead {

    /**
     * The hyper-parameters of a Semantic FPN head; how often a level is doubled follows from its
     * stride.
     *
     * @param inIndex the levels that are used, the finest first
     * @param channels width of the convolutions
     * @param dropoutRatio how many channels are dropped in training
     * @param norm what stands behind the convolutions
     * @param alignCorners how maps and scores are resized
     * @param lossDecode the loss
     */
    @Part("semantic_fpn")
    public record Config(
            @Default("[0, 1, 2, 3]") List<Integer> inIndex,
            @Default("128") int channels,
            @Default("0.1") double dropoutRatio,
            @Default("sync_bn") Norm norm,
            @Default("false") boolean alignCorners,
            PixelCrossEntropy lossDecode)
            implements SegmentationHead.Config {

        /** Checks the values. */
        public Config {
            inIndex = ImmutableList.copyOf(inIndex);
            PixelClassifier.checks(channels, dropoutRatio)
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
    private final List<ScaleHead> scaleHeads = new ArrayList<>();
    private final PixelClassifier classifier;

    /**
     * What makes a level as fine as the finest.
     *
     * @param convs its convolutions
     * @param doubles whether its size is doubled behind each of them
     */
    private record ScaleHead(List<ConvModule> convs, boolean doubles) {}

    /**
     * Makes a head without weights.
     *
     * @throws IllegalArgumentException if a level is not there, or finer than the first
     */
    public SemanticFpnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config.alignCorners(), config.lossDecode(), numClasses);
        this.config = config;
        List<FeatureInfo> levels = PixelClassifier.select(features, config.inIndex());
        for (FeatureInfo level : levels) {
            scaleHeads.add(scaleHead(level, levels.get(0).stride()));
        }
        classifier =
                add("", new PixelClassifier(config.channels(), numClasses, config.dropoutRatio()));
    }

    private ScaleHead scaleHead(FeatureInfo level, int finest) {
        checkArgument(
                level.stride() >= finest,
                "in_index: a level of stride %s behind one of stride %s",
                level.stride(),
                finest);
        boolean doubles = level.stride() != finest;
        int doublings = 31 - Integer.numberOfLeadingZeros(level.stride() / finest);
        ImmutableList.Builder<ConvModule> convs = ImmutableList.builder();
        for (int k = 0; k < Math.max(1, doublings); k++) {
            // As in the original, what doubles the size has a number too.
            String name = "scale_heads." + scaleHeads.size() + "." + (doubles ? 2 * k : k);
            int in = k == 0 ? level.channels() : config.channels();
            convs.add(add(name, config.norm().conv(in, config.channels())));
        }
        return new ScaleHead(convs.build(), doubles);
    }

    @Override
    public NDArray logits(FeaturePyramid features) {
        return Scope.array(
                () -> {
                    NDArray sum = scaled(0, features);
                    for (int i = 1; i < scaleHeads.size(); i++) {
                        sum = Interpolation.sum(sum, scaled(i, features), config.alignCorners());
                    }
                    return classifier.apply(sum);
                });
    }

    private NDArray scaled(int i, FeaturePyramid features) {
        ScaleHead head = scaleHeads.get(i);
        return Scope.array(
                () -> {
                    NDArray x = features.get(config.inIndex().get(i));
                    for (ConvModule conv : head.convs()) {
                        NDArray y = conv.apply(x);
                        x = head.doubles() ? Interpolation.doubled(y, config.alignCorners()) : y;
                    }
                    return x;
                });
    }
}
