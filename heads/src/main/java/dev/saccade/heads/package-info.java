/**
 * Heads compute losses, detections or segmentation scores from a feature pyramid.
 *
 * <p>{@link dev.saccade.core.ops.memory.Scope} frees the temporary arrays of forward passes and
 * losses.
 */
package dev.saccade.heads;
