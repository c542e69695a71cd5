package dev.saccade.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class DetectionEvaluatorTest {

    private static final MemoryDataset DATASET =
            new MemoryDataset("a", "b")
                    .image(9)
                    .object(0, 10, 10, 50, 50, 2500)
                    .object(1, 100, 100, 50, 50, 2500)
                    .image(4)
                    .object(1, 20, 20, 60, 60, 3600);

    private static final List<Instances> PREDICTIONS =
            List.of(
                    Instances.predicted(
                            Boxes.of(10, 10, 60, 60, 200, 10, 220, 30),
                            new int[] {0, 0},
                            new float[] {.9f, .3f}),
                    Instances.predicted(
                            Boxes.of(20, 20, 80, 80), new int[] {1}, new float[] {.8f}));

    @Test
    void measuresAndTellsWhatBecameOfEachPhotograph() {
        List<Integer> progress = new ArrayList<>();
        Evaluation evaluation =
                DetectionEvaluator.evaluate(DATASET, PREDICTIONS::get, progress::add, 1);
        assertEquals(List.of(1, 2), progress);
        assertEquals(
                List.of(
                        List.of(Verdict.TRUE_POSITIVE, Verdict.FALSE_POSITIVE),
                        List.of(Verdict.TRUE_POSITIVE)),
                evaluation.verdicts());
        List<List<Long>> missed =
                evaluation.missed().stream()
                        .map(image -> image.stream().map(Annotation::id).toList())
                        .toList();
        assertEquals(List.of(List.of(1L), List.of()), missed);
        double expected = (1 + 51 / 101.0) / 2;
        assertEquals(expected, evaluation.metrics().values().get("AP"), 1e-12);
        assertEquals(9, evaluation.detections().imageId(0));
        assertEquals(50, evaluation.detections().box(0).get(2));
    }

    @Test
    void orderOfPhotographsDoesNotMatter() {
        DetectionEvaluator evaluator = new DetectionEvaluator(DATASET);
        evaluator.add(1, PREDICTIONS.get(1));
        assertThrows(IllegalStateException.class, () -> evaluator.finish(1));
        evaluator.add(0, PREDICTIONS.get(0));
        assertEquals(
                DetectionEvaluator.evaluate(DATASET, PREDICTIONS::get, done -> {}, 1)
                        .metrics()
                        .values(),
                evaluator.finish(1).metrics().values());
    }
}
