package dev.saccade.heads.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Dropout2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Losses;

import java.util.List;

/** Base class of segmentation heads, like mmsegmentation's {@code BaseDecodeHead}. */
abstract class DecodeHead extends SegmentationHead {

    private final boolean alignCorners;
    private final PixelCrossEntropy lossDecode;

    DecodeHead(boolean alignCorners, PixelCrossEntropy lossDecode, int numClasses) {
        lossDecode.checkFits(numClasses);
        this.alignCorners = alignCorners;
        this.lossDecode = lossDecode;
    }

    static Checks checks(int channels, double dropoutRatio) {
        return new Checks()
                .inRange("channels", channels, 1, 8192)
                .below("dropout_ratio", dropoutRatio, 0, 1);
    }

    static List<FeatureInfo> select(List<FeatureInfo> features, List<Integer> inIndex) {
        String levels = "an index below %s, the number of levels";
        for (int level : inIndex) {
            Checks.require(level < features.size(), "in_index", level, levels, features.size());
        }
        return inIndex.stream().map(features::get).toList();
    }

    /** Returns 2D dropout and the 1x1 convolution {@code conv_seg}. */
    static Layer classifier(int channels, int numClasses, double dropoutRatio) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        Geometry scores = new Geometry(channels, numClasses, 1);
        return new Sequential()
                .append("dropout", new Dropout2d(dropoutRatio))
                .append("conv_seg", new Conv2d(scores, WeightInit.normal(0.01)))
                .then(Tensors::toFloat32);
    }

    @Override
    public final boolean alignsCorners() {
        return alignCorners;
    }

    /**
     * {@inheritDoc}
     *
     * @return {@code loss_seg} and the metric {@code acc_seg}: the percentage of correct pixels
     *     among all pixels, including ignored ones
     */
    @Override
    public final Losses losses(FeaturePyramid features, NDArray labels) {
        NDArray logits = logits(features);
        NDList sums = Autocast.off(() -> lossDecode.sums(logits, labels, alignCorners));
        NDArray percent = Tensors.of(labels.getManager(), 100f / labels.size());
        return new Losses(
                ImmutableMap.of("loss_seg", sums.get(0).div(lossDecode.avgFactor(labels))),
                ImmutableMap.of("acc_seg", sums.get(1).mul(percent)));
    }
}
