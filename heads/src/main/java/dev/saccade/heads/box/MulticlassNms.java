package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.ComponentConfig;

/**
 * Selects detections from scored boxes, such as {@code nms: {type: soft_nms, sigma: 0.5}}.
 *
 * <p>Missing boxes have score minus infinity. Arrays are on the device of the features; reading
 * values on the host waits for the GPU.
 */
public interface MulticlassNms extends ComponentConfig {

    /**
     * Detections with current scores; {@code keep [B, M]} is {@code row * C + class} among the
     * scores, 0 after the last one of an image.
     */
    record Kept(Detections detections, NDArray keep) {}

    Kept apply(ScoredBoxes scored);

    int maxPerImg();
}
