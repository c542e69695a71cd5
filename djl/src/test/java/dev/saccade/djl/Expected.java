package dev.saccade.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.modality.Classifications;
import ai.djl.modality.cv.output.CategoryMask;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.modality.cv.output.Mask;
import ai.djl.modality.cv.output.Rectangle;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.Box;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.testsupport.TinyModel;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What Saccade itself finds in a photograph, held against what DJL's forms say, bit for bit. */
final class Expected {

    private final List<DetectedObject> objects;
    private final Optional<ClassMap> map;
    private final List<ClassScore> classes;

    private Expected(
            List<DetectedObject> objects, Optional<ClassMap> map, List<ClassScore> classes) {
        this.objects = objects;
        this.map = map;
        this.classes = classes;
    }

    static Expected of(TinyModel model, Path checkpoint, Path photo) {
        return of(model, checkpoint, photo, new TestTimeAugmentation(List.of(), false));
    }

    static Expected of(TinyModel model, Path checkpoint, Path photo, TestTimeAugmentation tta) {
        if (model.isSegmenter()) {
            try (Segmenter segmenter = Segmenter.load(checkpoint)) {
                ClassMap map = segmenter.withTta(tta).segment(photo);
                assertTrue(map.fractions().size() > 1);
                return new Expected(List.of(), Optional.of(map), List.of());
            }
        }
        if (model == TinyModel.CLASSIFIER) {
            try (Classifier classifier = Classifier.load(checkpoint)) {
                List<ClassScore> classes = classifier.withTta(tta).classify(photo);
                assertEquals(2, classes.size());
                return new Expected(List.of(), Optional.empty(), classes);
            }
        }
        try (Detector detector = Detector.load(checkpoint)) {
            return found(detector.withTta(tta).detect(photo));
        }
    }

    static Expected ofDetector(Path checkpoint, Path photo) {
        try (Detector detector = Detector.load(checkpoint)) {
            return found(detector.detect(photo));
        }
    }

    private static Expected found(List<DetectedObject> objects) {
        assertTrue(objects.size() > 1);
        return new Expected(objects, Optional.empty(), List.of());
    }

    /** The class by which DJL tells this. */
    Class<?> type() {
        if (!classes.isEmpty()) {
            return Classifications.class;
        }
        return map.isPresent() ? CategoryMask.class : DetectedObjects.class;
    }

    void assertIs(Object answer) {
        if (map.isPresent()) {
            assertLabels(((CategoryMask) answer).getMask());
            assertEquals(map.get().classes(), ((CategoryMask) answer).getClasses());
            return;
        }
        if (!classes.isEmpty()) {
            Classifications all = (Classifications) answer;
            assertEquals(List.of("a", "b"), all.getClassNames());
            List<Classifications.Classification> items = all.topK(2);
            for (int i = 0; i < items.size(); i++) {
                assertClass(i, items.get(i).getClassName(), items.get(i).getProbability());
            }
            return;
        }
        List<DetectedObjects.DetectedObject> items = ((DetectedObjects) answer).items();
        List<DetectedObject> found = new ArrayList<>();
        for (DetectedObjects.DetectedObject item : items) {
            Rectangle box = item.getBoundingBox().getBounds();
            float[][] mask = box instanceof Mask held ? held.getProbDist() : null;
            assertTrue(!(box instanceof Mask held) || !held.isFullImageMask());
            assertEquals(box.getCoordinates()[2], box.getX() + box.getWidth());
            found.add(
                    object(item.getClassName(), item.getProbability(), box.getCoordinates(), mask));
        }
        assertEquals(objects, found);
    }

    /** Checks the JSON that a service format. */
    void assertIsJson(String json) {
        Gson gson = new Gson();
        if (map.isPresent()) {
            JsonObject answer = gson.fromJson(json, JsonObject.class);
            assertLabels(gson.fromJson(answer.get("mask"), int[][].class));
            assertEquals(
                    map.get().classes(),
                    List.of(gson.fromJson(answer.get("classes"), String[].class)));
            return;
        }
        if (!classes.isEmpty()) {
            JsonArray items = gson.fromJson(json, JsonArray.class);
            assertEquals(2, items.size());
            for (int i = 0; i < items.size(); i++) {
                JsonObject item = items.get(i).getAsJsonObject();
                assertClass(
                        i,
                        item.get("className").getAsString(),
                        item.get("probability").getAsDouble());
            }
            return;
        }
        List<DetectedObject> found = new ArrayList<>();
        for (JsonElement element : gson.fromJson(json, JsonArray.class)) {
            JsonObject item = element.getAsJsonObject();
            JsonObject box = item.getAsJsonObject("boundingBox");
            found.add(
                    object(
                            item.get("className").getAsString(),
                            item.get("probability").getAsDouble(),
                            gson.fromJson(box.get("rect"), double[].class),
                            gson.fromJson(box.get("mask"), float[][].class)));
        }
        assertEquals(objects, found);
    }

    private void assertClass(int rank, String label, double probability) {
        assertEquals(classes.get(rank).label(), label);
        assertEquals(classes.get(rank).score(), probability);
    }

    private void assertLabels(int[][] rows) {
        LabelMap labels = map.orElseThrow().labels();
        assertEquals(labels.size().height(), rows.length);
        for (int y = 0; y < rows.length; y++) {
            int[] expected = new int[labels.size().width()];
            for (int x = 0; x < expected.length; x++) {
                expected[x] = labels.get(y, x);
            }
            assertArrayEquals(expected, rows[y]);
        }
    }

    private DetectedObject object(String label, double score, double[] fractions, float[][] mask) {
        Box box =
                new Box(
                        (float) (fractions[0] * Served.WIDTH),
                        (float) (fractions[1] * Served.HEIGHT),
                        (float) (fractions[2] * Served.WIDTH),
                        (float) (fractions[3] * Served.HEIGHT));
        int index =
                objects.stream()
                        .filter(o -> o.label().equals(label))
                        .findAny()
                        .orElseThrow()
                        .classIndex();
        return new DetectedObject(
                label,
                index,
                score,
                box,
                Optional.ofNullable(mask).map(pixels -> rle(pixels, box)));
    }

    private static Rle rle(float[][] pixels, Box box) {
        byte[] bitmap = new byte[Served.WIDTH * Served.HEIGHT];
        for (int y = 0; y < pixels.length; y++) {
            for (int x = 0; x < pixels[y].length; x++) {
                int at = (y + (int) box.y1()) * Served.WIDTH + x + (int) box.x1();
                bitmap[at] = (byte) pixels[y][x];
            }
        }
        return Rle.encode(new Size(Served.HEIGHT, Served.WIDTH), bitmap);
    }
}
