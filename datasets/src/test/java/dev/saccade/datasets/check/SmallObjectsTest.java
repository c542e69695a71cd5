package dev.saccade.datasets.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.RandomChoice;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.Resize;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.Set;

class SmallObjectsTest {

    private static final Size LARGE = new Size(2000, 3000);

    private static Resize resize(List<List<Integer>> scales, Resize.Mode mode) {
        return new Resize(scales, mode, true, List.of(), 1);
    }

    private static Resize to(int width, int height) {
        return resize(List.of(List.of(width, height)), Resize.Mode.VALUE);
    }

    /** Returns the warning about twenty objects of an edge, and some large ones of a class. */
    private static Optional<Finding> warning(Size image, double edge, int large, Transform... on) {
        AnnotationTable.Builder table = new AnnotationTable.Builder();
        table.addCategory(1, "dot").addCategory(2, "house").addImage(1, "a.jpg", image);
        for (int i = 0; i < 20 + large; i++) {
            double side = i < 20 ? edge : 500;
            table.addAnnotation(1, i < 20 ? 1 : 2, Annotation.of(i, 0, 9, 9, side, side));
        }
        return SmallObjects.warning(table.build(), "a.json", Set.of(1L, 2L), List.of(on));
    }

    private static void assertWarned(String expected, Optional<Finding> warning) {
        String message = warning.map(Finding::toString).orElse("no warning");
        assertTrue(message.contains(expected), message);
    }

    @Test
    void reportsTinyObjectsWithASuitableImageSize() {
        Optional<Finding> warning = warning(LARGE, 10, 0, to(384, 288));
        assertWarned("20 of 20 objects (most of dot) are smaller than 4 pixels", warning);
        assertWarned("(half of these below 1.3)", warning);
        assertWarned("image_size: [2400, 1600]", warning);
        assertWarned("tiles of about 480x320 pixels", warning);
        Optional<Finding> portrait = warning(new Size(3000, 2000), 10, 0, to(384, 288));
        assertWarned("image_size: [1600, 2400]", portrait);
        assertEquals(Optional.empty(), warning(LARGE, 10, 0, to(2400, 1600)));
        assertEquals(Optional.empty(), warning(LARGE, 10, 0), "the size is not known");
    }

    @Test
    void oneClassOfSmallObjectsIsEnough() {
        assertWarned("20 of 1020 objects (most of dot)", warning(LARGE, 10, 1000, to(384, 288)));
    }

    @Test
    void theLargestScaleCounts() {
        List<List<Integer>> scales = List.of(List.of(2400, 1600), List.of(384, 288));
        for (Resize.Mode mode : Resize.Mode.values()) {
            assertEquals(Optional.empty(), warning(LARGE, 10, 0, resize(scales, mode)));
        }
        Transform either =
                new RandomChoice(List.of(List.of(to(384, 288)), List.of(to(2400, 1600))));
        assertEquals(Optional.empty(), warning(LARGE, 10, 0, either));
    }

    @Test
    void cropsBeforeResizingKeepObjectsLarge() {
        Transform crop =
                new RandomCrop(RandomCrop.Mode.ABSOLUTE, List.of(288.0, 384.0), 1, false, true);
        assertEquals(Optional.empty(), warning(LARGE, 10, 0, crop, to(384, 288)));
        assertWarned("smaller than 4 pixels", warning(LARGE, 10, 0, to(384, 288), crop));
    }
}
