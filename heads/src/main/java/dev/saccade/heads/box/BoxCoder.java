package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

/**
 * Encodes boxes as bbox deltas; selected by {@code type} in YAML, such as {@code bbox_coder: {type:
 * delta_xywh, target_stds: [0.1, 0.1, 0.2, 0.2]}}.
 *
 * <p>A custom coder is a record that implements this interface and is listed in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface BoxCoder extends PartConfig {

    /**
     * Returns the deltas from {@code boxes} to {@code targets}.
     *
     * @param boxes {@code [N, 4]} corners, such as anchors
     * @param targets {@code [N, 4]} corners
     * @return {@code [N, 4]}
     */
    NDArray encode(NDArray boxes, NDArray targets);

    /**
     * Applies deltas to boxes; differentiable by the deltas.
     *
     * @param boxes {@code [..., 4]} corners; axes of size 1 broadcast, as for class-specific deltas
     * @param deltas {@code [..., 4]}
     * @return {@code [..., 4]} corners, not clipped to an image
     */
    NDArray decode(NDArray boxes, NDArray deltas);
}
