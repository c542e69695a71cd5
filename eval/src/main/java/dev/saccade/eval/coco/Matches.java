package dev.saccade.eval.coco;

import static dev.saccade.eval.coco.CocoParameters.IOU_THRESHOLDS;

import dev.saccade.core.Workers;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Which detections match an object, at every IoU threshold and in every area range.
 *
 * <p>{@link ClassImageIndex} explains cells and slots. Cells are matched by several threads; each
 * writes only to its own cell.
 */
final class Matches {

    final CocoDetections detections;
    final CocoParameters parameters;

    /** Detections by class and image; once matched, a cell is in order of score. */
    final ClassImageIndex detectionCells;

    private final GroundTruth groundTruth;
    private final ClassImageIndex objectCells;
    private final long[] sortedImageIds;

    /** [A][slot of a detection]: bit t is set if it is paired with an object at threshold t. */
    private final int[][] matched;

    /** [A][slot of a detection]: bit t is set if it is neither right nor wrong at threshold t. */
    private final int[][] ignored;

    private Matches(GroundTruth groundTruth, CocoDetections detections, CocoParameters parameters) {
        this.groundTruth = groundTruth;
        this.detections = detections;
        this.parameters = parameters;
        this.sortedImageIds =
                IntStream.range(0, groundTruth.imageCount())
                        .mapToLong(groundTruth::imageId)
                        .sorted()
                        .toArray();
        this.objectCells =
                cells(
                        groundTruth.size(),
                        groundTruth::label,
                        object -> groundTruth.imageId(groundTruth.image(object)));
        this.detectionCells = cells(detections.size(), detections::label, detections::imageId);
        this.matched = new int[AreaRange.values().length][detections.size()];
        this.ignored = new int[AreaRange.values().length][detections.size()];
    }

    private ClassImageIndex cells(int size, IntUnaryOperator label, IntToLongFunction imageId) {
        int[] entries = IntStream.range(0, size).toArray();
        int[] cellOf = new int[size];
        for (int i = 0; i < size; i++) {
            int image = Arrays.binarySearch(sortedImageIds, imageId.applyAsLong(i));
            cellOf[i] = parameters.useClasses() ? firstCell(label.applyAsInt(i)) + image : image;
        }
        if (!parameters.useClasses()) {
            // The order of pycocotools, which decides between equal scores.
            StableSort.descending(
                    entries, 0, size, i -> -groundTruth.categoryId(label.applyAsInt(i)));
        }
        return new ClassImageIndex(entries, cellOf);
    }

    /** Pairs the detections of all cells. */
    static Matches match(
            GroundTruth groundTruth,
            CocoDetections detections,
            CocoParameters parameters,
            Workers workers) {
        Matches matches = new Matches(groundTruth, detections, parameters);
        PairwiseIou overlap = PairwiseIou.of(parameters.iouType(), groundTruth, detections);
        int[] starts =
                IntStream.range(0, detections.size())
                        .filter(matches.detectionCells::starts)
                        .toArray();
        workers.run(
                starts.length,
                () -> {
                    Matcher matcher = matches.new Matcher(overlap);
                    return task -> matcher.match(starts[task]);
                });
        return matches;
    }

    /** Returns the first cell of a class. */
    int firstCell(int label) {
        return Math.multiplyExact(label, sortedImageIds.length);
    }

    /** Returns whether an object is to be found by a detector. */
    boolean counts(int object, AreaRange area) {
        return !groundTruth.crowd(object) && area.contains(groundTruth.object(object).area());
    }

    /** Returns the number of objects of a class that are to be found. */
    int countObjects(int label, AreaRange area) {
        int end = objectCells.first(firstCell(label + 1));
        return (int)
                IntStream.range(objectCells.first(firstCell(label)), end)
                        .filter(slot -> counts(objectCells.entry(slot), area))
                        .count();
    }

    /** Returns what has become of the detection in a slot at threshold {@code t}. */
    Verdict verdict(AreaRange area, int slot, int t) {
        if ((ignored[area.index()][slot] >> t & 1) == 1) {
            return Verdict.IGNORED;
        }
        return (matched[area.index()][slot] >> t & 1) == 1
                ? Verdict.TRUE_POSITIVE
                : Verdict.FALSE_POSITIVE;
    }

    /** Returns the verdicts at the lowest threshold by detection. */
    List<Verdict> verdicts() {
        Verdict[] verdicts = new Verdict[detections.size()];
        int rank = 0;
        for (int slot = 0; slot < verdicts.length; slot++) {
            rank = detectionCells.starts(slot) ? 0 : rank + 1;
            verdicts[detectionCells.entry(slot)] =
                    rank < parameters.mostDetections()
                            ? verdict(AreaRange.ALL, slot, 0)
                            : Verdict.IGNORED;
        }
        return List.of(verdicts);
    }

    /**
     * Matches one cell, as COCOeval's {@code evaluateImg}: in descending order of score, each
     * detection takes the free object that it overlaps most, of equal ones the later. An object
     * that counts goes before one that is ignored, and a crowd is never used up. Has buffers, so
     * each thread needs its own.
     */
    private final class Matcher {

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

        Matcher(PairwiseIou overlap) {
            this.overlap = overlap;
        }

        /** Matches the cell that begins in a slot of the detections. */
        void match(int start) {
            int cell = detectionCells.cell(start);
            int end = detectionCells.first(cell + 1);
            detectionCells.sort(start, end, detections::score);
            int count = Math.min(end - start, parameters.mostDetections());
            firstObject = objectCells.first(cell);
            objects = objectCells.first(cell + 1) - firstObject;
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
                int detection = detectionCells.entry(start + d);
                for (int g = 0; g < objects; g++) {
                    ious[d * objects + g] = overlap.iou(detection, object(g));
                }
            }
        }

        private int object(int g) {
            return objectCells.entry(firstObject + g);
        }

        private void arrange(AreaRange area) {
            counting = 0;
            int ignored = objects;
            for (int g = 0; g < objects; g++) {
                taken[g] = 0;
                if (counts(object(g), area)) {
                    order[counting++] = g;
                }
            }
            for (int g = objects - 1; g >= 0; g--) {
                if (!counts(object(g), area)) {
                    order[--ignored] = g;
                }
            }
        }

        private void matchAtAllThresholds(AreaRange area, int slot, int firstIou) {
            int detection = detectionCells.entry(slot);
            int matched = 0;
            int ignored = 0;
            for (int t = 0; t < IOU_THRESHOLDS.length(); t++) {
                int best = best(t, firstIou);
                if (best >= 0) {
                    int object = object(order[best]);
                    taken[order[best]] |= groundTruth.crowd(object) ? 0 : 1 << t;
                    matched |= 1 << t;
                    ignored |= best >= counting ? 1 << t : 0;
                }
            }
            if (!area.contains(detections.area(detection, parameters.areaOf()))) {
                ignored |= ~matched;
            }
            Matches.this.matched[area.index()][slot] = matched;
            Matches.this.ignored[area.index()][slot] = ignored;
        }

        /**
         * Returns the place in the order of the object for a detection, or -1.
         *
         * @param firstIou where its overlaps start
         */
        private int best(int t, int firstIou) {
            double bestIou = Math.min(IOU_THRESHOLDS.get(t), 1 - 1e-10);
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
}
