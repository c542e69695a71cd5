package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.Optional;

/** Predicts masks of regions with the mask heads of all stages. */
record RoiMasks(TwoStageHead head) {

    /**
     * Returns the mask logits of a stage, {@code [R, classes, 2S, 2S]}. With mask information flow,
     * also runs the mask heads of earlier stages.
     */
    NDArray logits(RoiStage stage, FeaturePyramid features, Rois rois, Optional<NDArray> weights) {
        return Scope.array(
                () -> {
                    NDArray pooled = head.poolForMasks(features, rois);
                    MaskHead mask = stage.mask().orElseThrow();
                    Optional<NDArray> x = Optional.empty();
                    for (int s = mask.isResidual() ? 0 : stage.index(); s <= stage.index(); s++) {
                        MaskHead each = head.stages().get(s).mask().orElseThrow();
                        x = Optional.of(each.features(pooled, x, weights));
                    }
                    return mask.logits(x.orElseThrow());
                });
    }

    /** Returns the mask probabilities of regions with {@code [R]} labels, {@code [R, 2S, 2S]}. */
    NDArray probabilities(FeaturePyramid features, Rois rois, NDArray labels) {
        if (head.averagesMasks()) {
            return averaged(features, rois, labels);
        }
        RoiStage last = head.lastStage();
        NDArray logits = logits(last, features, rois, Optional.empty());
        return last.mask().orElseThrow().probabilities(logits, labels);
    }

    /** Like {@link #probabilities}, but always returns the mean over all stages. */
    NDArray averaged(FeaturePyramid features, Rois rois, NDArray labels) {
        return Scope.array(
                () -> {
                    NDArray pooled = head.poolForMasks(features, rois);
                    NDArray sum = Tensors.of(pooled.getManager(), 0);
                    Optional<NDArray> x = Optional.empty();
                    for (RoiStage stage : head.stages()) {
                        MaskHead mask = stage.mask().orElseThrow();
                        NDArray y = mask.features(pooled, x, Optional.empty());
                        sum = sum.add(mask.probabilities(mask.logits(y), labels));
                        x = Optional.of(y);
                    }
                    return sum.div(Tensors.of(pooled.getManager(), head.stages().size()));
                });
    }
}
