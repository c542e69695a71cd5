package dev.saccade.eval.labelerrors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.coco.CocoDetections;

import org.junit.jupiter.api.Test;

import java.util.List;

class LabelErrorsTest {

    private static final int IMAGES = 60;

    private final MemoryDataset data = new MemoryDataset("cat", "dog");
    private final CocoDetections.Builder found = new CocoDetections.Builder();

    /** Adds images with a correct cat and dog each, then an image for the case of a test. */
    LabelErrorsTest() {
        for (int i = 1; i <= IMAGES; i++) {
            data.addImage(i).withoutMask(0, 10, 10, 40, 40).withoutMask(1, 100, 10, 40, 40);
            found.add(i, 0, box(11 + i % 3, 10, 40, 40), 0.8 + i % 10 * 0.01);
            found.add(i, 1, box(100, 10 + i % 3, 40, 40), 0.8 + i % 10 * 0.01);
            found.add(i, i % 2, box(150, 100, 30, 30), 0.1 + i % 10 * 0.01);
        }
        data.addImage(1000).withoutMask(0, 10, 10, 40, 40);
        found.add(1000, 0, box(10, 10, 40, 40), 0.85);
    }

    @Test
    void findsMissingLabel() {
        found.add(1000, 1, box(200, 100, 40, 40), 0.85);
        LabelError error = first();
        assertEquals(LabelErrorKind.MISSING, error.kind());
        assertTrue(error.label().isEmpty());
        assertEquals(
                new LabelError.Prediction(1, 0.85, box(200, 100, 40, 40)),
                error.prediction().orElseThrow());
    }

    @Test
    void findsWrongClass() {
        data.withoutMask(0, 100, 100, 40, 40);
        found.add(1000, 1, box(100, 101, 40, 40), 0.85);
        LabelError error = first();
        assertEquals(LabelErrorKind.CLASS, error.kind());
        assertEquals(0, error.label().orElseThrow().label());
        assertEquals(1, error.prediction().orElseThrow().label());
    }

    @Test
    void findsShiftedBox() {
        data.withoutMask(0, 100, 100, 40, 40);
        found.add(1000, 0, box(118, 100, 40, 40), 0.85);
        LabelError error = first();
        assertEquals(LabelErrorKind.BOX, error.kind());
        assertEquals(box(100, 100, 40, 40), error.label().orElseThrow().box());
        assertEquals(box(118, 100, 40, 40), error.prediction().orElseThrow().box());
    }

    @Test
    void findsSpuriousLabel() {
        for (int i = 2000; i < 2400; i++) {
            data.addImage(i).withoutMask(0, 10, 10, 40, 40);
            found.add(i, 0, box(10, 10, 40, 40), 0.85);
        }
        data.addImage(3000).withoutMask(0, 10, 10, 40, 40).withoutMask(0, 100, 100, 50, 60);
        found.add(3000, 0, box(10, 10, 40, 40), 0.85);
        LabelError error = first();
        assertEquals(LabelErrorKind.SPURIOUS, error.kind());
        assertEquals(box(100, 100, 50, 60), error.label().orElseThrow().box());
    }

    @Test
    void reportsOneSuspectPerObject() {
        data.withoutMask(0, 100, 100, 40, 40);
        found.add(1000, 1, box(100, 101, 40, 40), 0.85);
        found.add(1000, 0, box(118, 100, 40, 40), 0.4);
        LabelErrors errors = LabelErrors.find(data, found.build());
        long suspects =
                errors.suspects().stream()
                        .filter(error -> data.image(error.image()).id() == 1000)
                        .count();
        assertEquals(1, suspects);
    }

    @Test
    void correctLabelsAreNotSuspected() {
        assertEquals(List.of(), LabelErrors.find(data, found.build()).suspects());
    }

    @Test
    void skipsCrowdsAndImagesWithoutDetections() {
        data.crowd(1, 180, 80, 60, 60);
        found.add(1000, 1, box(190, 90, 30, 30), 0.85);
        data.addImage(4000).withoutMask(0, 10, 10, 40, 40);
        LabelErrors errors = LabelErrors.find(data, found.build());
        assertEquals(List.of(), errors.suspects());
        assertEquals(IMAGES + 1, errors.inspected());
    }

    @Test
    void fileListsSuspectsByScore() {
        found.add(1000, 1, box(200, 100, 40, 40), 0.85);
        LabelErrors errors = LabelErrors.find(data, found.build());
        String json = LabelErrorsFile.json(errors, data);
        assertTrue(json.contains("\"kind\" : \"missing\""), json);
        assertTrue(json.contains("\"image_id\" : 1000"), json);
        assertTrue(json.contains("\"predicted_class\" : \"dog\""), json);
        assertFalse(json.contains("label_class"), json);
    }

    private LabelError first() {
        LabelErrors errors = LabelErrors.find(data, found.build());
        assertFalse(errors.suspects().isEmpty());
        return errors.suspects().get(0);
    }

    private static Annotation.Bbox box(double x, double y, double width, double height) {
        return new Annotation.Bbox(x, y, width, height);
    }
}
