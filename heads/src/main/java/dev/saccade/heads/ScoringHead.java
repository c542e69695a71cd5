package dev.saccade.heads;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.SegmentationHead;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Losses;

/** A segmentation head that learns its scores by cross entropy, as all of mmsegmentation's. */
abstract class ScoringHead extends SegmentationHead {

    private final boolean alignCorners;
    private final CrossEntropyLoss lossDecode;

    ScoringHead(boolean alignCorners, CrossEntropyLoss lossDecode, int numClasses) {
        lossDecode.checkFits(numClasses);
        this.alignCorners = alignCorners;
        this.lossDecode = lossDecode;
    }

    @Override
    public final boolean alignsCorners() {
        return alignCorners;
    }

    @Override
    public final Losses losses(FeaturePyramid features, NDArray labels) {
        try (NDArray logits = logits(features)) {
            return lossDecode.of(logits, labels, alignCorners);
        }
    }
}
