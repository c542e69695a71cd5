package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableDoubleArray;

/**
 * Computes precision and recall of a class, like COCOeval's {@code accumulate}. {@link
 * ClassImageIndex} explains slots. Not thread-safe.
 */
final class Accumulator {

    private static final ImmutableDoubleArray RECALLS = CocoParameters.RECALL_THRESHOLDS;

    /** Avoids 0 / 0 where all detections so far are ignored; as in pycocotools. */
    private static final double EPSILON = Math.ulp(1.0);

    private final Matches matches;
    private final CocoParameters parameters;
    private final MetricArray precision;
    private final MetricArray recall;
    private final MetricArray scores;

    /** Slots of the class within the largest limit per image, by descending score. */
    private int[] slots;

    /** Number of used elements of {@code slots}. */
    private int count;

    /** Element i: rank by score, within its image, of the detection in slot firstSlot + i. */
    private int[] ranks;

    private int firstSlot;

    /** Slots of the detections within the current limit per image, by descending score. */
    private int[] limited;

    private double[] precisionAt;
    private double[] recallAt;

    private final double[] precisionAtRecall = new double[RECALLS.length()];

    private final double[] scoreAtRecall = new double[RECALLS.length()];

    /** Accepts the arrays to fill: precision and scores [T, R, K, A, M], recall [T, K, A, M]. */
    Accumulator(Matches matches, MetricArray precision, MetricArray recall, MetricArray scores) {
        this.matches = matches;
        this.parameters = matches.parameters;
        this.precision = precision;
        this.recall = recall;
        this.scores = scores;
    }

    /** Computes all metrics of class {@code k} and stores them in the arrays. */
    void accumulate(int k) {
        collect(k);
        for (AreaRange area : AreaRange.values()) {
            int objects = matches.countObjects(k, area);
            for (int m = 0; objects > 0 && m < parameters.maxDetections().size(); m++) {
                int kept = limit(parameters.maxDetections().get(m));
                for (int t = 0; t < CocoParameters.IOU_THRESHOLDS.length(); t++) {
                    trace(area, t, kept, objects);
                    recall.set(kept == 0 ? 0 : recallAt[kept - 1], t, k, area.index(), m);
                    interpolate(kept);
                    precision.setAlong(1, precisionAtRecall, t, 0, k, area.index(), m);
                    scores.setAlong(1, scoreAtRecall, t, 0, k, area.index(), m);
                }
            }
        }
    }

    /** Stores precision and score of the first detection that reaches each recall threshold. */
    private void interpolate(int kept) {
        int i = 0;
        for (int r = 0; r < RECALLS.length(); r++) {
            while (i < kept && recallAt[i] < RECALLS.get(r)) {
                i++;
            }
            precisionAtRecall[r] = i < kept ? precisionAt[i] : 0;
            scoreAtRecall[r] = i < kept ? score(limited[i]) : 0;
        }
    }

    private double score(int slot) {
        return matches.detections.score(matches.detectionCells.entry(slot));
    }

    private void collect(int k) {
        ClassImageIndex cells = matches.detectionCells;
        firstSlot = cells.first(matches.firstCell(k));
        int end = cells.first(matches.firstCell(k + 1));
        slots = new int[end - firstSlot];
        ranks = new int[end - firstSlot];
        count = 0;
        int rank = 0;
        for (int slot = firstSlot; slot < end; slot++) {
            rank = cells.starts(slot) ? 0 : rank + 1;
            ranks[slot - firstSlot] = rank;
            if (rank < parameters.maxDetectionLimit()) {
                slots[count++] = slot;
            }
        }
        StableSort.descending(slots, 0, count, this::score);
        limited = new int[count];
        precisionAt = new double[count];
        recallAt = new double[count];
    }

    private int limit(int maxDetections) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (ranks[slots[i] - firstSlot] < maxDetections) {
                limited[kept++] = slots[i];
            }
        }
        return kept;
    }

    /** Computes recall and non-increasing precision after each detection. */
    private void trace(AreaRange area, int t, int kept, int objects) {
        double right = 0;
        double wrong = 0;
        for (int i = 0; i < kept; i++) {
            MatchStatus status = matches.status(area, limited[i], t);
            right += status == MatchStatus.TRUE_POSITIVE ? 1 : 0;
            wrong += status == MatchStatus.FALSE_POSITIVE ? 1 : 0;
            recallAt[i] = right / objects;
            precisionAt[i] = right / (wrong + right + EPSILON);
        }
        for (int i = kept - 2; i >= 0; i--) {
            precisionAt[i] = Math.max(precisionAt[i], precisionAt[i + 1]);
        }
    }
}
