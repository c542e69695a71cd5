package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;

import java.util.List;
import java.util.Optional;

/**
 * The mask heads of all stages. Where they pass on what they make of a region (Chen et al. 2019), a
 * head is preceded by all those before it, in training as well.
 *
 * @param heads one of each stage
 * @param averages whether the masks of all stages are averaged, instead of the last one's drawn
 */
record MaskBranch(List<MaskHead> heads, boolean averages) {

    MaskBranch {
        heads = ImmutableList.copyOf(heads);
    }

    /**
     * Returns what a stage draws.
     *
     * @param pooled {@code [R, C, S, S]}
     * @param weights {@code [R]} 0 for fillers, if there may be any
     * @return logits {@code [R, classes, 2S, 2S]}
     */
    NDArray logits(int stage, NDArray pooled, Optional<NDArray> weights) {
        return Scope.array(() -> heads.get(stage).draw(features(stage, pooled, weights)));
    }

    private NDArray features(int stage, NDArray pooled, Optional<NDArray> weights) {
        MaskHead head = heads.get(stage);
        Optional<NDArray> before =
                head.isResidual()
                        ? Optional.of(features(stage - 1, pooled, weights))
                        : Optional.empty();
        return head.features(pooled, before, weights);
    }

    /**
     * Returns the probabilities of masks.
     *
     * @param pooled {@code [R, C, S, S]}
     * @param shown {@code [R]} integers: what each region shows
     * @return {@code [R, 2S, 2S]}
     */
    NDArray probabilities(NDArray pooled, NDArray shown) {
        return averages ? mean(pooled, shown) : last(pooled, shown);
    }

    private NDArray last(NDArray pooled, NDArray shown) {
        int last = heads.size() - 1;
        return heads.get(last).probabilities(logits(last, pooled, Optional.empty()), shown);
    }

    private NDArray mean(NDArray pooled, NDArray shown) {
        NDArray sum = Tensors.of(pooled.getManager(), 0);
        Optional<NDArray> before = Optional.empty();
        for (MaskHead head : heads) {
            NDArray features =
                    head.features(
                            pooled,
                            head.isResidual() ? before : Optional.empty(),
                            Optional.empty());
            sum = sum.add(head.probabilities(head.draw(features), shown));
            before = Optional.of(features);
        }
        return sum.div(Tensors.of(pooled.getManager(), heads.size()));
    }
}
