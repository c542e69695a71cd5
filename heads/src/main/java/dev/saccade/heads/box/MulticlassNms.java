package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

/**
 * Selects detections from scored boxes (mmdetection's {@code multiclass_nms}); selected by {@code
 * type} in YAML, such as {@code nms: {type: soft_nms, sigma: 0.5}}.
 *
 * <p>A custom implementation is a record that implements this interface and is listed in a {@link
 * dev.saccade.core.parts.PartProvider}. Missing boxes have score minus infinity. Arrays are on the
 * device of the features; reading values on the host waits for the GPU.
 */
public interface MulticlassNms extends PartConfig {

    /**
     * The selected detections.
     *
     * @param detections with their current scores
     * @param keep {@code [B, M]} int64 index {@code row * C + class} of each detection among the
     *     scores; 0 after the last one of an image
     */
    record Kept(Detections detections, NDArray keep) {}

    /** Selects the detections of every image of a batch. */
    Kept apply(ScoredBoxes scored);

    /** Returns the maximum number of detections per image. */
    int maxPerImg();
}
