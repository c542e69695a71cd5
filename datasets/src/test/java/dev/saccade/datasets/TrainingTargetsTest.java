package dev.saccade.datasets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

class TrainingTargetsTest {

    private static final ImageFile IMAGE = new ImageFile(3, Path.of("nuts.jpg"), new Size(30, 40));
    private static final Segmentation SQUARE =
            new Segmentation.Polygons(List.of(new double[] {2, 3, 12, 3, 12, 13, 2, 13}));

    private static Annotation annotation(long id, boolean crowd, Segmentation outline) {
        return new Annotation(
                id,
                1,
                new Annotation.Bbox(2, 3, 10, 10),
                100,
                outline,
                crowd ? Set.of(Annotation.Flag.CROWD) : Set.of());
    }

    @Test
    void returnsMasksOfUsableObjects() {
        Segmentation thin =
                new Segmentation.Polygons(List.of(new double[] {2, 3, 2, 3.01, 2.01, 3}));
        Instances targets =
                TrainingTargets.masks(
                        IMAGE,
                        List.of(
                                annotation(1, true, new Segmentation.None()),
                                annotation(2, false, SQUARE),
                                annotation(3, false, thin)));
        assertEquals(
                List.of(Rle.fromBox(IMAGE.size(), 2, 3, 10, 10), Rle.empty(IMAGE.size())),
                targets.masks());
        assertEquals(2, targets.size());
        assertEquals(Boxes.of(2, 3, 12, 13), targets.ignored());
    }

    @Test
    void namesFileAndAnnotationOfInvalidOutlines() {
        assertRefused(new Segmentation.None(), "annotation 17 has no segmentation");
        assertRefused(
                new Segmentation.Polygons(List.of(new double[] {1, 2, 3, 4})),
                "annotation 17: segmentation: polygon: got 4");
        assertRefused(
                new Segmentation.Runs(new Size(40, 30), "Z1"),
                "annotation 17: segmentation: run lengths encode a mask of 30x40, but the image is"
                        + " 40x30");
    }

    private static void assertRefused(Segmentation outline, String expected) {
        List<Annotation> faulty = List.of(annotation(17, false, outline));
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> TrainingTargets.masks(IMAGE, faulty));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains("nuts.jpg: " + expected), thrown.getMessage());
        assertEquals(1, TrainingTargets.boxes(IMAGE, faulty).size());
    }
}
