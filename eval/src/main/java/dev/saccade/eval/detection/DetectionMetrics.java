package dev.saccade.eval.detection;

import dev.saccade.eval.coco.CocoAverages;

import java.util.Optional;

/**
 * Metrics of detected boxes and masks.
 *
 * @param masks empty if the model predicts no masks
 */
public record DetectionMetrics(CocoAverages boxes, Optional<CocoAverages> masks) {}
