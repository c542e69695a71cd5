package dev.saccade.serve;

import com.google.common.primitives.Bytes;
import com.google.common.primitives.UnsignedBytes;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.labels.BrushRle;
import dev.saccade.models.Box;
import dev.saccade.models.ClassScore;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.ScoreThresholds;

import org.opencv.core.MatOfPoint2f;
import org.opencv.core.Point;
import org.opencv.imgproc.Imgproc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Converts a prediction to a Label Studio prediction: regions with coordinates in percent. */
final class LabelStudioResult {

    /** Maximum distance in pixels of a polygon from the mask. */
    private static final double POLYGON_TOLERANCE = 1;

    private final LabelingConfig config;
    private final Size size;
    private final List<Map<String, Object>> regions = new ArrayList<>();
    private final List<Double> scores = new ArrayList<>();

    private LabelStudioResult(LabelingConfig config, Size size) {
        this.config = config;
        this.size = size;
    }

    /** Returns the regions of all classes in the labeling config, and their mean score. */
    static Map<String, Object> of(
            UploadQueue.Predicted predicted,
            LabelingConfig config,
            List<String> classes,
            ScoreThresholds thresholds,
            String version) {
        LabelStudioResult result = new LabelStudioResult(config, predicted.size());
        if (predicted.prediction() instanceof LabelMap map) {
            map.masks().forEach((label, mask) -> result.addMask(classes.get(label), 1, mask));
        } else if (predicted.prediction() instanceof ClassScores probabilities) {
            ClassScore best = ClassScore.top(probabilities, classes, 1).get(0);
            result.add(best.label(), best.score(), Map.of());
        } else {
            Instances found = thresholds.select((Instances) predicted.prediction(), classes);
            DetectedObject.of(found, classes).forEach(result::addObject);
        }
        double score = result.scores.stream().mapToDouble(each -> each).average().orElse(0);
        return Map.of("result", result.regions, "score", score, "model_version", version);
    }

    private void addObject(DetectedObject object) {
        switch (config.tag()) {
            case BRUSH -> addMask(object.label(), object.score(), object.mask().orElseThrow());
            case POLYGON ->
                    polygons(object.mask().orElseThrow())
                            .forEach(
                                    points ->
                                            add(
                                                    object.label(),
                                                    object.score(),
                                                    Map.of("points", points, "closed", true)));
            default -> add(object.label(), object.score(), box(object.box()));
        }
    }

    private void addMask(String label, double score, Rle mask) {
        if (mask.area() > 0) {
            List<Integer> rle =
                    Bytes.asList(BrushRle.encode(mask)).stream().map(UnsignedBytes::toInt).toList();
            add(label, score, Map.of("format", "rle", "rle", rle));
        }
    }

    private Map<String, Object> box(Box box) {
        return Map.of(
                "x", percent(box.x1(), size.width()),
                "y", percent(box.y1(), size.height()),
                "width", percent(box.width(), size.width()),
                "height", percent(box.height(), size.height()),
                "rotation", 0);
    }

    /** Returns the outer contours, simplified; Label Studio has no polygons with holes. */
    private Stream<List<List<Double>>> polygons(Rle mask) {
        return Contours.trace(mask).stream()
                .map(contour -> simplified(contour.toArray()))
                .filter(points -> points.size() >= 3);
    }

    private List<List<Double>> simplified(int... contour) {
        Point[] corners =
                IntStream.range(0, contour.length / 2)
                        .mapToObj(i -> new Point(contour[2 * i], contour[2 * i + 1]))
                        .toArray(Point[]::new);
        MatOfPoint2f exact = new MatOfPoint2f(corners);
        MatOfPoint2f simple = new MatOfPoint2f();
        try {
            // The screen has y downwards, where outer contours have a positive area.
            if (Imgproc.contourArea(exact, /* oriented= */ true) <= 0) {
                return List.of();
            }
            Imgproc.approxPolyDP(exact, simple, POLYGON_TOLERANCE, /* closed= */ true);
            return Stream.of(simple.toArray())
                    .map(
                            corner ->
                                    List.of(
                                            percent(corner.x, size.width()),
                                            percent(corner.y, size.height())))
                    .toList();
        } finally {
            exact.release();
            simple.release();
        }
    }

    private static double percent(double pixels, int side) {
        return 100 * pixels / side;
    }

    private void add(String label, double score, Map<String, Object> shape) {
        if (!config.hasLabel(label)) {
            return;
        }
        Map<String, Object> value = new LinkedHashMap<>(shape);
        value.put(config.tag().type(), List.of(label));
        Map<String, Object> region = new LinkedHashMap<>();
        region.put("id", "saccade" + regions.size());
        region.put("from_name", config.name());
        region.put("to_name", config.image());
        region.put("type", config.tag().type());
        region.put("original_width", size.width());
        region.put("original_height", size.height());
        region.put("image_rotation", 0);
        region.put("score", score);
        region.put("value", value);
        regions.add(region);
        scores.add(score);
    }
}
