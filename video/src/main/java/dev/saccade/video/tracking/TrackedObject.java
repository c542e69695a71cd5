package dev.saccade.video.tracking;

import dev.saccade.models.DetectedObject;

/**
 * An object of a frame with its identity.
 *
 * @param id identity, from 1; a tracker never uses an identity for two tracks
 * @param object detection of this frame, unchanged
 */
public record TrackedObject(int id, DetectedObject object) {}
