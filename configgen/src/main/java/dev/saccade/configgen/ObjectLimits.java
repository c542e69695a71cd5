package dev.saccade.configgen;

import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.IouType;

/** Limits on detections for images with up to {@code mostObjects} objects. */
record ObjectLimits(int mostObjects) {

    /** Leaves room for false positives with a high score. */
    private static final double DETECTIONS_PER_OBJECT = 1.5;

    /** Several NMS candidates overlap each object. */
    private static final int CANDIDATES_PER_DETECTION = 5;

    private static final int MIN_CANDIDATES = 1000;
    private static final int MAX_CANDIDATES = 20_000;

    /** Returns whether an image has more objects than the default limits allow. */
    boolean isDense() {
        return mostObjects > CocoParameters.official(IouType.BOX).maxDetectionLimit();
    }

    /** Returns the limit on detections, rounded up to hundreds. */
    int detections() {
        return (int) Math.ceil(mostObjects * DETECTIONS_PER_OBJECT / 100) * 100;
    }

    /** Returns the limit on candidates before NMS and on proposals. */
    int candidates() {
        long unbounded = (long) CANDIDATES_PER_DETECTION * detections();
        long bounded = Math.min(Math.max(unbounded, MIN_CANDIDATES), MAX_CANDIDATES);
        return (int) Math.max(bounded, detections());
    }
}
