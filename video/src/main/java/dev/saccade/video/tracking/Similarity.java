package dev.saccade.video.tracking;

/** Measure of overlap that associates detections with tracks. */
public enum Similarity {
    /** IoU of bounding boxes. */
    BOX,
    /** IoU of masks; the last mask of a track is shifted to its predicted position. */
    MASK
}
