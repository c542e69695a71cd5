package dev.saccade.demo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Iterables;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SceneRendererTest {

    private static final Size SIZE = new Size(96, 128);

    private final List<byte[]> images = new ArrayList<>();
    private final List<List<SceneObject>> scenes = new ArrayList<>();

    @BeforeAll
    void renderScenes() {
        SceneRenderer renderer = new SceneRenderer(7, SIZE);
        for (int i = 0; i < 80; i++) {
            byte[] bgr = new byte[Math.toIntExact(3 * SIZE.area())];
            scenes.add(renderer.render(i, bgr));
            images.add(bgr);
        }
    }

    @Test
    void sceneIsAFunctionOfSeedAndIndex() {
        byte[] again = new byte[images.get(42).length];
        assertEquals(scenes.get(42), new SceneRenderer(7, SIZE).render(42, again));
        assertArrayEquals(images.get(42), again);

        new SceneRenderer(8, SIZE).render(42, again);
        assertFalse(Arrays.equals(images.get(42), again), "another seed gives another scene");
    }

    @Test
    void objectsStandOutFromTheTable() {
        int single = Iterables.indexOf(scenes, scene -> scene.size() == 1);
        Rle mask = scenes.get(single).get(0).mask();
        assertTrue(mask.area() > 100, "large enough to see: " + mask);
        Rle.Bounds box = mask.bounds();
        byte[] bgr = images.get(single);
        double inside = 0;
        double outside = 0;
        for (int y = 0; y < SIZE.height(); y++) {
            for (int x = 1; x < SIZE.width(); x++) {
                int at = 3 * (y * SIZE.width() + x) + 1;
                double contrast = Math.abs((bgr[at] & 0xFF) - (bgr[at - 3] & 0xFF));
                boolean in =
                        x >= box.x()
                                && x < box.x() + box.width()
                                && y >= box.y()
                                && y < box.y() + box.height();
                inside += in ? contrast : 0;
                outside += in ? 0 : contrast;
            }
        }
        double boxArea = box.width() * box.height();
        assertTrue(inside / boxArea > 1.5 * outside / (SIZE.area() - boxArea));
    }

    @Test
    void scenesVaryFromEmptyToCrowdedAndShowEveryClass() {
        TreeSet<Integer> counts = new TreeSet<>();
        TreeSet<Integer> labels = new TreeSet<>();
        for (List<SceneObject> scene : scenes) {
            counts.add(scene.size());
            scene.forEach(object -> labels.add(object.label()));
        }
        assertTrue(counts.contains(0) && counts.contains(1) && counts.last() >= 7, "" + counts);
        assertEquals(ObjectTemplate.CLASSES.size(), labels.size());
    }

    @Test
    void rejectsSmallSizes() {
        Size size = new Size(32, 320);
        assertThrows(IllegalArgumentException.class, () -> new SceneRenderer(0, size));
    }
}
