package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableDoubleArray;

/**
 * Pairs the detections of one class in one image with its objects, as COCOeval's {@code
 * evaluateImg}: in descending order of score, each detection takes the free object that it overlaps
 * most, of equal ones the later. An object that counts goes before one that is ignored, and a crowd
 * is never used up.
 *
 * <p>{@link ClassImageIndex} says what a cell and a slot are. Has buffers, so each thread needs its
 * own.
 */
final class CocoMatcher {

    private static final ImmutableDoubleArray THRESHOLDS = CocoParameters.IOU_THRESHOLDS;

    private final Matches matches;
    private final GroundTruth groundTruth;
    private final CocoDetections detections;
    private final PairwiseIou overlap;

    /** Number of objects of the cell, and where they begin among the slots. */
    private int objects;

    private int firstObject;

    /** IoU of detection d with object g, at d * objects + g. */
    private double[] ious = new double[256];

    /** The objects, those that count first, and how many these are. */
    private int[] order = new int[16];

    private int counting;

    /** At which thresholds an object is used up. */
    private int[] taken = new int[16];

    CocoMatcher(Matches matches, PairwiseIou overlap) {
        this.matches = matches;
        this.groundTruth = matches.groundTruth();
        this.detections = matches.detections();
        this.overlap = overlap;
    }

    /** Matches the cell that begins in a slot of the detections. */
    void match(int start) {
        ClassImageIndex found = matches.detectionCells();
        ClassImageIndex wanted = matches.objectCells();
        int cell = found.cell(start);
        int end = found.first(cell + 1);
        found.sort(start, end, detections::score);
        int count = Math.min(end - start, matches.parameters().mostDetections());
        firstObject = wanted.first(cell);
        objects = wanted.first(cell + 1) - firstObject;
        measure(start, count);
        for (AreaRange area : AreaRange.values()) {
            arrange(area);
            for (int d = 0; d < count; d++) {
                matchAtAllThresholds(area, start + d, d * objects);
            }
        }
    }

    private void measure(int start, int count) {
        if (ious.length < count * objects) {
            ious = new double[2 * count * objects];
        }
        if (order.length < objects) {
            order = new int[2 * objects];
            taken = new int[2 * objects];
        }
        for (int d = 0; d < count; d++) {
            int detection = matches.detectionCells().entry(start + d);
            for (int g = 0; g < objects; g++) {
                ious[d * objects + g] = overlap.iou(detection, object(g));
            }
        }
    }

    private int object(int g) {
        return matches.objectCells().entry(firstObject + g);
    }

    private void arrange(AreaRange area) {
        counting = 0;
        int ignored = objects;
        for (int g = 0; g < objects; g++) {
            taken[g] = 0;
            if (matches.counts(object(g), area)) {
                order[counting++] = g;
            }
        }
        for (int g = objects - 1; g >= 0; g--) {
            if (!matches.counts(object(g), area)) {
                order[--ignored] = g;
            }
        }
    }

    private void matchAtAllThresholds(AreaRange area, int slot, int firstIou) {
        int detection = matches.detectionCells().entry(slot);
        int matched = 0;
        int ignored = 0;
        for (int t = 0; t < THRESHOLDS.length(); t++) {
            int best = best(t, firstIou);
            if (best >= 0) {
                int object = object(order[best]);
                taken[order[best]] |= groundTruth.crowd(object) ? 0 : 1 << t;
                matched |= 1 << t;
                ignored |= best >= counting ? 1 << t : 0;
                if (t == 0 && area == AreaRange.ALL) {
                    matches.setFound(object);
                }
            }
        }
        if (!area.contains(detections.area(detection, matches.parameters().areaOf()))) {
            ignored |= ~matched;
        }
        matches.set(area, slot, matched, ignored);
    }

    /**
     * Returns the place in the order of the object for a detection, or -1.
     *
     * @param firstIou where its overlaps start
     */
    private int best(int t, int firstIou) {
        double bestIou = Math.min(THRESHOLDS.get(t), 1 - 1e-10);
        int best = -1;
        for (int i = 0; i < objects; i++) {
            int g = order[i];
            if ((taken[g] >> t & 1) == 1) {
                continue;
            }
            if (best >= 0 && best < counting && i >= counting) {
                break;
            }
            if (ious[firstIou + g] >= bestIou) {
                bestIou = ious[firstIou + g];
                best = i;
            }
        }
        return best;
    }
}
