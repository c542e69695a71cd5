package dev.saccade.models;

import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.Neck;

/**
 * The parts of a detector, as the {@code model} section of a config names them.
 *
 * @param backbone images to features
 * @param neck features to features
 * @param head features to objects
 */
public record ModelConfig(Backbone.Config backbone, Neck.Config neck, DetectionHead.Config head) {}
