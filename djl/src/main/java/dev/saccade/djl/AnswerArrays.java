package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What is found in one photograph as arrays, exactly.
 *
 * <p>Objects are height and width of the photograph {@code [2]} int32, boxes {@code [N, 4]} float32
 * in its pixels, labels {@code [N]} int32 and scores {@code [N]} float32, best first; where there
 * are masks, also how many runs each has, {@code [N]} int32, and the runs of all, int32, as {@link
 * Rle#counts} has them. Label maps are {@code [H, W]} int32.
 */
final class AnswerArrays {

    private static final int WITH_MASKS = 6;

    private AnswerArrays() {}

    /** Returns the arrays of the objects in a photograph. */
    static NDList of(Instances objects, Size photo, NDManager manager) {
        int n = objects.size();
        float[] scores = new float[n];
        for (int i = 0; i < n; i++) {
            scores[i] = objects.score(i);
        }
        NDList arrays =
                new NDList(
                        manager.create(new int[] {photo.height(), photo.width()}),
                        manager.create(objects.boxes().toArray(), new Shape(n, 4)),
                        manager.create(objects.labels(), new Shape(n)),
                        manager.create(scores, new Shape(n)));
        if (objects.hasMasks()) {
            List<int[]> runs = objects.masks().stream().map(Rle::counts).toList();
            arrays.add(manager.create(runs.stream().mapToInt(counts -> counts.length).toArray()));
            arrays.add(manager.create(runs.stream().flatMapToInt(Arrays::stream).toArray()));
        }
        return arrays;
    }

    /** Returns the arrays of a label map. */
    static NDList of(LabelMap map, NDManager manager) {
        Size size = map.size();
        int[] labels = new int[Math.toIntExact(size.area())];
        for (int y = 0, at = 0; y < size.height(); y++) {
            for (int x = 0; x < size.width(); x++) {
                labels[at++] = map.get(y, x);
            }
        }
        return new NDList(manager.create(labels, new Shape(size.height(), size.width())));
    }

    /** Returns the size of the photograph in which objects were found. */
    static Size photo(NDList objects) {
        int[] size = objects.get(0).toIntArray();
        return new Size(size[0], size[1]);
    }

    /** Returns the objects in a photograph. */
    static Instances instances(NDList arrays) {
        Instances objects =
                Instances.predicted(
                        Boxes.of(arrays.get(1).toFloatArray()),
                        arrays.get(2).toIntArray(),
                        arrays.get(3).toFloatArray());
        return arrays.size() < WITH_MASKS ? objects : objects.withMasks(masks(arrays));
    }

    private static List<Rle> masks(NDList arrays) {
        Size photo = photo(arrays);
        int[] runs = arrays.get(5).toIntArray();
        List<Rle> masks = new ArrayList<>();
        int start = 0;
        for (int length : arrays.get(4).toIntArray()) {
            masks.add(Rle.fromCounts(photo, Arrays.copyOfRange(runs, start, start + length)));
            start += length;
        }
        return masks;
    }

    /** Returns a label map, row by row. */
    static int[][] labels(NDList arrays) {
        Shape shape = arrays.singletonOrThrow().getShape();
        int[] labels = arrays.singletonOrThrow().toIntArray();
        int width = Math.toIntExact(shape.get(1));
        int[][] rows = new int[Math.toIntExact(shape.get(0))][];
        for (int y = 0; y < rows.length; y++) {
            rows[y] = Arrays.copyOfRange(labels, y * width, (y + 1) * width);
        }
        return rows;
    }
}
