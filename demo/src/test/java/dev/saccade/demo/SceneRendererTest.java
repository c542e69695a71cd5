package dev.saccade.demo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SceneRendererTest {

    private static final Size SIZE = new Size(96, 128);

    private List<Scene> scenes;

    @BeforeAll
    void renderScenes() {
        SceneRenderer renderer = new SceneRenderer(7, SIZE);
        scenes = IntStream.range(0, 80).mapToObj(renderer::render).toList();
    }

    @Test
    void sceneIsAFunctionOfSeedAndIndex() {
        Scene again = new SceneRenderer(7, SIZE).render(42);

        assertArrayEquals(scenes.get(42).bgr(), again.bgr());
        assertEquals(scenes.get(42).objects(), again.objects());
        assertFalse(
                Arrays.equals(again.bgr(), new SceneRenderer(8, SIZE).render(42).bgr()),
                "another seed gives another scene");
    }

    @Test
    void boxesAreThePolygonsBoundsInsideThePicture() {
        for (Scene scene : scenes) {
            for (SceneObject object : scene.objects()) {
                int[] xs = coordinates(object, 0);
                int[] ys = coordinates(object, 1);
                assertEquals(object.box().x(), Arrays.stream(xs).min().orElseThrow());
                assertEquals(object.box().y(), Arrays.stream(ys).min().orElseThrow());
                assertEquals(
                        object.box().x() + object.box().width(),
                        Arrays.stream(xs).max().orElseThrow());
                assertEquals(
                        object.box().y() + object.box().height(),
                        Arrays.stream(ys).max().orElseThrow());
                assertTrue(object.box().x() >= 0 && object.box().y() >= 0);
                assertTrue(object.box().x() + object.box().width() <= SIZE.width());
                assertTrue(object.box().y() + object.box().height() <= SIZE.height());
            }
        }
    }

    @Test
    void areaIsThatOfThePolygons() {
        for (Scene scene : scenes) {
            for (SceneObject object : scene.objects()) {
                long twice = object.polygons().stream().mapToLong(Polygons::twiceArea).sum();
                assertEquals(2L * object.area(), twice);
            }
        }
    }

    @Test
    void objectsStandOutFromTheTable() {
        Scene single =
                scenes.stream()
                        .filter(scene -> scene.objects().size() == 1)
                        .findFirst()
                        .orElseThrow();
        SceneObject object = single.objects().get(0);
        assertTrue(object.area() > 100, "large enough to see: " + object);
        byte[] bgr = single.bgr();
        double inside = 0;
        double outside = 0;
        for (int y = 0; y < SIZE.height(); y++) {
            for (int x = 1; x < SIZE.width(); x++) {
                int at = 3 * (y * SIZE.width() + x) + 1;
                double contrast = Math.abs((bgr[at] & 0xFF) - (bgr[at - 3] & 0xFF));
                boolean in =
                        x >= object.box().x()
                                && x < object.box().x() + object.box().width()
                                && y >= object.box().y()
                                && y < object.box().y() + object.box().height();
                inside += in ? contrast : 0;
                outside += in ? 0 : contrast;
            }
        }
        double boxArea = object.box().width() * object.box().height();
        assertTrue(inside / boxArea > 1.5 * outside / (SIZE.area() - boxArea));
    }

    @Test
    void scenesVaryFromEmptyToCrowdedAndShowEveryClass() {
        TreeSet<Integer> counts = new TreeSet<>();
        TreeSet<Integer> labels = new TreeSet<>();
        for (Scene scene : scenes) {
            counts.add(scene.objects().size());
            scene.objects().forEach(object -> labels.add(object.label()));
        }
        assertTrue(counts.contains(0) && counts.contains(1) && counts.last() >= 7, "" + counts);
        assertEquals(Thing.CLASSES.size(), labels.size());
    }

    @Test
    void tooSmallASizeIsRefused() {
        Size size = new Size(32, 320);
        assertThrows(IllegalArgumentException.class, () -> new SceneRenderer(0, size));
    }

    /** The x of all corners for axis 0, the y for axis 1. */
    private static int[] coordinates(SceneObject object, int axis) {
        return object.polygons().stream()
                .flatMapToInt(
                        polygon ->
                                IntStream.range(0, polygon.length() / 2)
                                        .map(corner -> polygon.get(2 * corner + axis)))
                .toArray();
    }
}
