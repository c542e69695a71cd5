package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.ComponentConfig;

/**
 * Encodes boxes as deltas, such as {@code bbox_coder: {type: delta_xywh, target_stds: [0.1, 0.1,
 * 0.2, 0.2]}}.
 */
public interface BoxCoder extends ComponentConfig {

    /** Returns the deltas {@code [N, 4]} from {@code [N, 4]} boxes to {@code [N, 4]} targets. */
    NDArray encode(NDArray boxes, NDArray targets);

    /**
     * Applies {@code [..., 4]} deltas to {@code [..., 4]} boxes, without clipping. Axes of size 1
     * of the boxes broadcast. Differentiable with respect to the deltas.
     */
    NDArray decode(NDArray boxes, NDArray deltas);
}
