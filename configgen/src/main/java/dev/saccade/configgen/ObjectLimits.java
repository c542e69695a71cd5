package dev.saccade.configgen;

import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.IouType;

/**
 * Limits on detections per image that leave room for all objects.
 *
 * @param mostObjects the largest number of objects in an image
 */
record ObjectLimits(int mostObjects) {

    /** Room for false positives with a higher score than a detection of an object. */
    private static final double DETECTIONS_PER_OBJECT = 1.5;

    /** NMS candidates and proposals, several of which overlap each object. */
    private static final int CANDIDATES_PER_DETECTION = 5;

    private static final int LEAST_CANDIDATES = 1000;
    private static final int MOST_CANDIDATES = 20_000;

    /** Returns whether an image has more objects than are detected and evaluated by default. */
    boolean isDense() {
        return mostObjects > CocoParameters.official(IouType.BOX).maxDetectionLimit();
    }

    /** Returns the limit on detections, in hundreds. */
    int detections() {
        return (int) Math.ceil(mostObjects * DETECTIONS_PER_OBJECT / 100) * 100;
    }

    /**
     * Returns the limit on candidates before NMS and on proposals, at least {@link #detections}.
     */
    int candidates() {
        long wanted = (long) CANDIDATES_PER_DETECTION * detections();
        long bounded = Math.min(Math.max(wanted, LEAST_CANDIDATES), MOST_CANDIDATES);
        return (int) Math.max(bounded, detections());
    }
}
