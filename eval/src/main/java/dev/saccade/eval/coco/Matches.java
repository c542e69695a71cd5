package dev.saccade.eval.coco;

import dev.saccade.core.Workers;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Which detections are right, at every IoU threshold and in every area range.
 *
 * <p>Cells are matched by several threads; each writes only what belongs to its own cell.
 */
final class Matches {

    private final GroundTruth groundTruth;
    private final CocoDetections detections;
    private final CocoParameters parameters;
    private final long[] sortedImageIds;
    private final ClassImageIndex objectCells;
    private final ClassImageIndex detectionCells;

    /** [A][slot of a detection]: bit t is set if it is paired with an object at threshold t. */
    private final int[][] matched;

    /** [A][slot of a detection]: bit t is set if it is neither right nor wrong at threshold t. */
    private final int[][] ignored;

    /** Which objects are found at the lowest threshold, whatever their size. */
    private final boolean[] found;

    private Matches(GroundTruth groundTruth, CocoDetections detections, CocoParameters parameters) {
        this.groundTruth = groundTruth;
        this.detections = detections;
        this.parameters = parameters;
        this.sortedImageIds = groundTruth.imageIds().stream().sorted().toArray();
        this.objectCells =
                cells(
                        groundTruth.size(),
                        groundTruth::label,
                        object -> groundTruth.imageIds().get(groundTruth.image(object)));
        this.detectionCells = cells(detections.size(), detections::label, detections::imageId);
        this.matched = new int[AreaRange.values().length][detections.size()];
        this.ignored = new int[AreaRange.values().length][detections.size()];
        this.found = new boolean[groundTruth.size()];
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
                    CocoMatcher matcher = new CocoMatcher(matches, overlap);
                    return task -> matcher.match(starts[task]);
                });
        return matches;
    }

    GroundTruth groundTruth() {
        return groundTruth;
    }

    CocoDetections detections() {
        return detections;
    }

    CocoParameters parameters() {
        return parameters;
    }

    /** Returns the objects by class and image. */
    ClassImageIndex objectCells() {
        return objectCells;
    }

    /** Returns the detections by class and image; once matched, a cell is in order of score. */
    ClassImageIndex detectionCells() {
        return detectionCells;
    }

    /** Returns the first cell of a class. */
    int firstCell(int label) {
        return Math.multiplyExact(label, sortedImageIds.length);
    }

    /** Returns whether an object is to be found by a detector. */
    boolean counts(int object, AreaRange area) {
        return !groundTruth.crowd(object) && area.contains(groundTruth.area(object));
    }

    /** Returns the number of objects of a class that are to be found. */
    int countObjects(int label, AreaRange area) {
        int end = objectCells.first(firstCell(label + 1));
        return (int)
                IntStream.range(objectCells.first(firstCell(label)), end)
                        .filter(slot -> counts(objectCells.entry(slot), area))
                        .count();
    }

    void set(AreaRange area, int slot, int matchedAt, int ignoredAt) {
        matched[area.index()][slot] = matchedAt;
        ignored[area.index()][slot] = ignoredAt;
    }

    void setFound(int object) {
        found[object] = true;
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

    /** Returns whether an object is found at the lowest threshold. */
    boolean found(int object) {
        return found[object];
    }
}
