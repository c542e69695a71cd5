package dev.saccade.djl;

import ai.djl.modality.cv.output.CategoryMask;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import java.util.Arrays;
import java.util.List;

/** Converts label maps to {@link CategoryMask}; the array is {@code [H, W]} int32. */
final class SegmentationResponse implements ResponseFormat<LabelMap> {

    @Override
    public String model() {
        return "segmenter";
    }

    @Override
    public Class<CategoryMask> type() {
        return CategoryMask.class;
    }

    @Override
    public NDList arrays(LabelMap map, Size imageSize, NDManager manager) {
        int[] labels = new int[Math.toIntExact(imageSize.area())];
        for (int y = 0, at = 0; y < imageSize.height(); y++) {
            for (int x = 0; x < imageSize.width(); x++) {
                labels[at++] = map.get(y, x);
            }
        }
        return new NDList(manager.create(labels, new Shape(imageSize.height(), imageSize.width())));
    }

    @Override
    public CategoryMask response(NDList arrays, List<String> classes) {
        Shape shape = arrays.singletonOrThrow().getShape();
        int[] labels = arrays.singletonOrThrow().toIntArray();
        int width = Math.toIntExact(shape.get(1));
        int[][] rows = new int[Math.toIntExact(shape.get(0))][];
        for (int y = 0; y < rows.length; y++) {
            rows[y] = Arrays.copyOfRange(labels, y * width, (y + 1) * width);
        }
        return new CategoryMask(classes, rows);
    }
}
