package dev.saccade.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.IntStream;

class DetectionExampleTest {

    private static final Boxes TWO = Boxes.of(0, 0, 10, 10, 20, 0, 30, 10);

    @Test
    void matchesUnmatchedObjectWithHighestIou() {
        Instances truth = Instances.groundTruth(TWO, 0, 1);
        Instances predictions =
                Instances.predicted(
                        Boxes.of(0, 0, 10, 9, 20, 0, 30, 10, 0, 0, 10, 10, 20, 0, 30, 12),
                        new int[] {0, 0, 0, 1},
                        new float[] {0.9f, 0.8f, 0.7f, 0.6f});
        DetectionExample example = example(truth, predictions);

        assertArrayEquals(new int[] {0, -1, -1, 1}, example.matches());
        assertArrayEquals(new double[] {0.9, 0.6}, example.truthScores(), 1e-6);
    }

    @Test
    void countsMissedObjectsAndFalsePositives() {
        Instances truth = Instances.groundTruth(TWO, 0, 0);
        Instances predictions =
                Instances.predicted(
                        Boxes.of(0, 0, 10, 10, 50, 0, 60, 10),
                        new int[] {0, 0},
                        new float[] {0.9f, 0.4f});
        DetectionExample example = example(truth, predictions);

        assertEquals(1, example.errors(0.5));
        assertEquals(2, example.errors(0.3));
        assertEquals(2, example.errors(0.95));
        assertEquals(2, example.missed(0.95));
        assertEquals(0, example(Instances.empty(), Instances.empty()).errors(0.5));
    }

    @Test
    void selectsWorstAndSpreadImages() {
        List<DetectionExample> examples =
                IntStream.rangeClosed(0, 10).mapToObj(DetectionExampleTest::found).toList();

        assertEquals(List.of(0, 1, 2, 8), DetectionExample.select(examples, 4, 0.5));
        assertEquals(List.of(0), DetectionExample.select(examples, 1, 0.5));
        assertEquals(
                IntStream.rangeClosed(0, 10).boxed().toList(),
                DetectionExample.select(examples, 50, 0.5));
        assertEquals(List.of(), DetectionExample.select(List.of(), 3, 0.5));
    }

    @Test
    void ignoresUnmatchedDetectionsInCrowdsOfTheirClass() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 20, 0, 30, 10, 45, 0, 55, 10, 46, 0, 56, 10);
        Instances truth = Instances.groundTruth(Boxes.of(0, 0, 10, 10), 0);
        Instances crowd = Instances.groundTruth(Boxes.of(0, 0, 50, 50), 0);
        float[] scores = {.9f, .8f, .7f, .6f};

        DetectionExample all =
                example(truth, crowd, Instances.predicted(boxes, new int[4], scores));
        assertArrayEquals(
                new int[] {0, DetectionExample.IGNORED, DetectionExample.IGNORED, -1},
                all.matches());
        assertEquals("1 correct, 1 false positive, 0 missed", all.summary(0.5));

        int[] others = {0, 1, 1, 1};
        DetectionExample other = example(truth, crowd, Instances.predicted(boxes, others, scores));
        assertEquals("1 correct, 3 false positives, 0 missed", other.summary(0.5));
    }

    /** An image with ten objects, some of them detected. */
    private static DetectionExample found(int count) {
        float[] corners = new float[40];
        float[] scores = new float[10];
        for (int i = 0; i < 10; i++) {
            corners[4 * i] = 10 * i;
            corners[4 * i + 2] = 10 * i + 10;
            corners[4 * i + 3] = 10;
            scores[i] = 0.9f;
        }
        Boxes boxes = Boxes.of(corners);
        Instances all = Instances.predicted(boxes, new int[10], scores);
        return example(
                Instances.groundTruth(boxes, new int[10]),
                all.select(IntStream.range(0, count).toArray()));
    }

    private static DetectionExample example(Instances truth, Instances predictions) {
        return example(truth, Instances.empty(), predictions);
    }

    private static DetectionExample example(
            Instances truth, Instances crowds, Instances predictions) {
        return new DetectionExample("a.jpg", new Size(50, 100), "", truth, crowds, predictions);
    }
}
