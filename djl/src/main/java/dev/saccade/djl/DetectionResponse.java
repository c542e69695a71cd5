package dev.saccade.djl;

import ai.djl.modality.cv.output.BoundingBox;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.modality.cv.output.Mask;
import ai.djl.modality.cv.output.Rectangle;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.ScoreThresholds;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Converts detections to {@link DetectedObjects}.
 *
 * <p>Arrays: image height and width {@code [2]} int32, boxes {@code [N, 4]} float32 in pixels,
 * labels {@code [N]} int32 and scores {@code [N]} float32, descending; with masks also the number
 * of runs per mask {@code [N]} int32, and all runs, int32, as in {@link Rle#counts}.
 *
 * <p>DJL's boxes are fractions of the image size; multiplying by the size restores each float
 * exactly. DJL's masks cover all pixels that their box touches, from {@code floor(x1), floor(y1)}
 * to {@code ceil(x2), ceil(y2)}: 1 is foreground, 0 background.
 */
final class DetectionResponse implements ResponseFormat<Instances> {

    private static final int WITH_MASKS = 6;

    private final ScoreThresholds thresholds;
    private final List<String> classes;

    DetectionResponse(ScoreThresholds thresholds, List<String> classes) {
        this.thresholds = thresholds;
        this.classes = classes;
    }

    @Override
    public String model() {
        return "detector";
    }

    @Override
    public Class<DetectedObjects> type() {
        return DetectedObjects.class;
    }

    @Override
    public NDList arrays(Instances predicted, Size imageSize, NDManager manager) {
        Instances objects = thresholds.select(predicted, classes);
        int n = objects.size();
        float[] scores = new float[n];
        for (int i = 0; i < n; i++) {
            scores[i] = objects.score(i);
        }
        NDList arrays =
                new NDList(
                        manager.create(new int[] {imageSize.height(), imageSize.width()}),
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

    @Override
    public DetectedObjects response(NDList arrays, List<String> classes) {
        int[] size = arrays.get(0).toIntArray();
        Size imageSize = new Size(size[0], size[1]);
        return response(objects(arrays, imageSize), imageSize, classes);
    }

    private static Instances objects(NDList arrays, Size imageSize) {
        Instances objects =
                Instances.predicted(
                        Boxes.of(arrays.get(1).toFloatArray()),
                        arrays.get(2).toIntArray(),
                        arrays.get(3).toFloatArray());
        return arrays.size() < WITH_MASKS ? objects : objects.withMasks(masks(arrays, imageSize));
    }

    private static List<Rle> masks(NDList arrays, Size imageSize) {
        int[] runs = arrays.get(5).toIntArray();
        List<Rle> masks = new ArrayList<>();
        int start = 0;
        for (int length : arrays.get(4).toIntArray()) {
            masks.add(Rle.fromCounts(imageSize, Arrays.copyOfRange(runs, start, start + length)));
            start += length;
        }
        return masks;
    }

    private static DetectedObjects response(
            Instances objects, Size imageSize, List<String> classes) {
        List<String> names = new ArrayList<>();
        List<Double> scores = new ArrayList<>();
        List<BoundingBox> boxes = new ArrayList<>();
        for (int i = 0; i < objects.size(); i++) {
            names.add(classes.get(objects.label(i)));
            scores.add((double) objects.score(i));
            boxes.add(box(objects, i, imageSize));
        }
        return new DetectedObjects(names, scores, boxes);
    }

    private static BoundingBox box(Instances objects, int i, Size imageSize) {
        Boxes boxes = objects.boxes();
        double x = boxes.x1(i) / (double) imageSize.width();
        double y = boxes.y1(i) / (double) imageSize.height();
        double width = boxes.x2(i) / (double) imageSize.width() - x;
        double height = boxes.y2(i) / (double) imageSize.height() - y;
        return objects.hasMasks()
                ? new Mask(x, y, width, height, pixels(boxes, i, objects.mask(i)))
                : new Rectangle(x, y, width, height);
    }

    private static float[][] pixels(Boxes boxes, int i, Rle mask) {
        Size imageSize = mask.size();
        int left = Math.min((int) boxes.x1(i), imageSize.width() - 1);
        int top = Math.min((int) boxes.y1(i), imageSize.height() - 1);
        int right = Math.max((int) Math.ceil(boxes.x2(i)), left + 1);
        int bottom = Math.max((int) Math.ceil(boxes.y2(i)), top + 1);
        float[][] pixels = new float[bottom - top][right - left];
        mask.crop(top, left, new Size(bottom - top, right - left))
                .forEachColumnRun(
                        (x, first, end) -> {
                            for (int y = first; y < end; y++) {
                                pixels[y][x] = 1;
                            }
                        });
        return pixels;
    }
}
