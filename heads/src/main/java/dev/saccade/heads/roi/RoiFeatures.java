package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.structures.FeaturePyramid;

import java.util.Optional;

/**
 * What regions of a batch are pooled from.
 *
 * @param pyramid the features of the neck
 * @param semantic {@code [N, C, H, W]} what a semantic branch makes of them, if there is one
 */
record RoiFeatures(FeaturePyramid pyramid, Optional<NDArray> semantic) {

    /** Makes features of a head without a semantic branch. */
    RoiFeatures(FeaturePyramid pyramid) {
        this(pyramid, Optional.empty());
    }
}
