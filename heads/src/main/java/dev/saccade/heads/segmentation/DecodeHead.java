package dev.saccade.heads.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.parts.SegmentationHead;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Losses;

/** A segmentation head that learns its scores by cross entropy, as all of mmsegmentation's. */
abstract class DecodeHead extends SegmentationHead {

    private final boolean alignCorners;
    private final PixelCrossEntropy lossDecode;

    DecodeHead(boolean alignCorners, PixelCrossEntropy lossDecode, int numClasses) {
        lossDecode.checkFits(numClasses);
        this.alignCorners = alignCorners;
        this.lossDecode = lossDecode;
    }

    @Override
    public final boolean alignsCorners() {
        return alignCorners;
    }

    /**
     * {@inheritDoc}
     *
     * @return {@code loss_seg} over the number of pixels, and as a figure {@code acc_seg}: the
     *     percentage of all pixels, ignored ones included, whose label has the highest score
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
