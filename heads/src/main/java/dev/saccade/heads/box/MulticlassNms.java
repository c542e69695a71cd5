package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.ComponentConfig;

/**
 * Selects detections from scored boxes, such as {@code nms: {type: soft_nms, sigma: 0.5}}.
 *
 * <p>Input rows without a box have score minus infinity. Arrays are on the device of the features;
 * reading values on the host waits for the GPU.
 */
public interface MulticlassNms extends ComponentConfig {

    /**
     * Detections with their new scores. {@code keep [B, M]} contains the index {@code row * C +
     * class} of each detection in the input scores, and 0 after the last detection of an image.
     */
    record Kept(Detections detections, NDArray keep) {}

    Kept apply(ScoredBoxes scored);

    int maxPerImg();
}
