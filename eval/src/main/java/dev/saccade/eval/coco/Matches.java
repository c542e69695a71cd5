package dev.saccade.eval.coco;

import static dev.saccade.eval.coco.CocoParameters.IOU_THRESHOLDS;

import dev.saccade.core.Workers;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Matches of detections with objects by IoU threshold and area range. {@link ClassImageIndex}
 * explains cells and slots. Threads may match different cells concurrently.
 */
final class Matches {

    final CocoDetections detections;
    final CocoParameters parameters;

    /** Detections by class and image; after matching, each cell is sorted by score. */
    final ClassImageIndex detectionCells;

    private final GroundTruth groundTruth;
    private final ClassImageIndex objectCells;
    private final long[] sortedImageIds;

    /** [A][detection slot]: bit t is set if the detection matches an object at threshold t. */
    private final int[][] matched;

    /** [A][detection slot]: bit t is set if the detection is ignored at threshold t. */
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
            // pycocotools' order, which decides between equal scores
            StableSort.descending(
                    entries, 0, size, i -> -groundTruth.categoryId(label.applyAsInt(i)));
        }
        return new ClassImageIndex(entries, cellOf);
    }

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

    /** Returns the first cell of a class; the cells of a class are in the order of image ids. */
    int firstCell(int label) {
        return Math.multiplyExact(label, sortedImageIds.length);
    }

    /** Returns whether an object counts for recall: not a crowd, and in the area range. */
    boolean counts(int object, AreaRange area) {
        return !groundTruth.crowd(object) && area.contains(groundTruth.object(object).area());
    }

    /** Returns the number of objects of a class that count for recall. */
    int countObjects(int label, AreaRange area) {
        int end = objectCells.first(firstCell(label + 1));
        return (int)
                IntStream.range(objectCells.first(firstCell(label)), end)
                        .filter(slot -> counts(objectCells.entry(slot), area))
                        .count();
    }

    int imageCount() {
        return sortedImageIds.length;
    }

    /** Returns the number of objects that count for recall, by image in the order of their ids. */
    int[] objectsPerImage(int label) {
        int[] counts = new int[imageCount()];
        int first = firstCell(label);
        int end = objectCells.first(firstCell(label + 1));
        for (int slot = objectCells.first(first); slot < end; slot++) {
            if (counts(objectCells.entry(slot), AreaRange.ALL)) {
                counts[objectCells.cell(slot) - first]++;
            }
        }
        return counts;
    }

    /** Returns the slots of a class within the largest limit per image, by descending score. */
    int[] slots(int label) {
        int first = detectionCells.first(firstCell(label));
        int end = detectionCells.first(firstCell(label + 1));
        int[] slots = new int[end - first];
        int count = 0;
        int rank = 0;
        for (int slot = first; slot < end; slot++) {
            rank = detectionCells.starts(slot) ? 0 : rank + 1;
            if (rank < parameters.maxDetectionLimit()) {
                slots[count++] = slot;
            }
        }
        StableSort.descending(
                slots, 0, count, slot -> detections.score(detectionCells.entry(slot)));
        return Arrays.copyOf(slots, count);
    }

    /** Returns the result of the detection in a slot at threshold {@code t}. */
    MatchStatus status(AreaRange area, int slot, int t) {
        if ((ignored[area.index()][slot] >> t & 1) == 1) {
            return MatchStatus.IGNORED;
        }
        return (matched[area.index()][slot] >> t & 1) == 1
                ? MatchStatus.TRUE_POSITIVE
                : MatchStatus.FALSE_POSITIVE;
    }

    List<MatchStatus> matchStatuses() {
        MatchStatus[] matchStatuses = new MatchStatus[detections.size()];
        int rank = 0;
        for (int slot = 0; slot < matchStatuses.length; slot++) {
            rank = detectionCells.starts(slot) ? 0 : rank + 1;
            matchStatuses[detectionCells.entry(slot)] =
                    rank < parameters.maxDetectionLimit()
                            ? status(AreaRange.ALL, slot, 0)
                            : MatchStatus.IGNORED;
        }
        return List.of(matchStatuses);
    }

    /**
     * Matches one cell like COCOeval's {@code evaluateImg}: in descending order of score, each
     * detection matches the unmatched object with the highest IoU, the last on ties. Counted
     * objects precede ignored ones. A crowd can match any number of detections. Not thread-safe.
     */
    private final class Matcher {

        private final PairwiseIou overlap;

        /** Number of objects of the cell; {@code firstObject} is their first slot. */
        private int objects;

        private int firstObject;

        /** IoU of detection d with object g, at d * objects + g. */
        private double[] ious = new double[256];

        /** Objects of the cell; those after the first {@code countedObjects} are ignored. */
        private int[] order = new int[16];

        private int countedObjects;

        /** Bit t is set if the object is matched at threshold t. */
        private int[] objectMatches = new int[16];

        Matcher(PairwiseIou overlap) {
            this.overlap = overlap;
        }

        /** Matches the cell whose first detection is in slot {@code start}. */
        void match(int start) {
            int cell = detectionCells.cell(start);
            int end = detectionCells.first(cell + 1);
            detectionCells.sort(start, end, detections::score);
            int count = Math.min(end - start, parameters.maxDetectionLimit());
            firstObject = objectCells.first(cell);
            objects = objectCells.first(cell + 1) - firstObject;
            computeIous(start, count);
            for (AreaRange area : AreaRange.values()) {
                orderObjects(area);
                for (int d = 0; d < count; d++) {
                    matchAtAllThresholds(area, start + d, d * objects);
                }
            }
        }

        private void computeIous(int start, int count) {
            if (ious.length < count * objects) {
                ious = new double[2 * count * objects];
            }
            if (order.length < objects) {
                order = new int[2 * objects];
                objectMatches = new int[2 * objects];
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

        private void orderObjects(AreaRange area) {
            countedObjects = 0;
            int ignored = objects;
            for (int g = 0; g < objects; g++) {
                objectMatches[g] = 0;
                if (counts(object(g), area)) {
                    order[countedObjects++] = g;
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
                    objectMatches[order[best]] |= groundTruth.crowd(object) ? 0 : 1 << t;
                    matched |= 1 << t;
                    ignored |= best >= countedObjects ? 1 << t : 0;
                }
            }
            if (!area.contains(detections.area(detection, parameters.areaOf()))) {
                ignored |= ~matched;
            }
            Matches.this.matched[area.index()][slot] = matched;
            Matches.this.ignored[area.index()][slot] = ignored;
        }

        /**
         * Returns the index in {@code order} of the best object for a detection; -1 if none fits.
         */
        private int best(int t, int firstIou) {
            double bestIou = Math.min(IOU_THRESHOLDS.get(t), 1 - 1e-10);
            int best = -1;
            for (int i = 0; i < objects; i++) {
                int g = order[i];
                if ((objectMatches[g] >> t & 1) == 1) {
                    continue;
                }
                if (best >= 0 && best < countedObjects && i >= countedObjects) {
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
