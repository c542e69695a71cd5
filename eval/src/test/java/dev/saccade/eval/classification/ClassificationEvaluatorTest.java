package dev.saccade.eval.classification;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class ClassificationEvaluatorTest {

    /** Images with these labels, without files. */
    private record Labels(List<String> classes, List<Integer> labels) implements Dataset {

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, labels.size())
                    .mapToObj(i -> new ImageFile(i + 1L, Path.of("image"), new Size(4, 4)))
                    .toList();
        }

        @Override
        public OptionalInt label(int index) {
            return OptionalInt.of(labels.get(index));
        }
    }

    private static List<String> classes(int count) {
        return IntStream.range(0, count).mapToObj(i -> "class" + i).toList();
    }

    private static ClassScores scores(double... values) {
        return new ClassScores(ImmutableDoubleArray.copyOf(values));
    }

    @Test
    void countsImagesWhoseClassIsAmongTheBest() {
        ClassificationEvaluator evaluator =
                new ClassificationEvaluator(new Labels(classes(7), List.of(0, 1, 6, 5)));
        ClassScores descending = scores(0.4, 0.2, 0.15, 0.1, 0.08, 0.05, 0.02);
        IntStream.range(0, 4).forEach(i -> evaluator.process(i, descending));
        ClassificationEvaluation evaluation = evaluator.evaluate();
        assertEquals(0.25, evaluation.values().get("top1"));
        assertEquals(0.5, evaluation.values().get("top5"));
        assertEquals(0.15, evaluation.values().get("ece"), 1e-12);
        assertEquals(evaluator.metrics(), evaluation.values().keySet());
        assertEquals(1, evaluation.confusion().counts().get(6).get(0));
        ClassificationMetrics metrics = evaluation.metrics();
        assertEquals(0.25, metrics.top1());
        assertEquals(0.5, metrics.top5());
        assertEquals(0.15, metrics.calibrationError(), 1e-12);
        assertEquals("class6", metrics.perClass().get(6).name());
        assertEquals(List.of(metrics), evaluation.records());
    }

    @Test
    void omitsTopFiveOfFewClasses() {
        ClassificationEvaluator evaluator =
                new ClassificationEvaluator(new Labels(classes(5), List.of(4)));
        evaluator.process(0, scores(0.1, 0.1, 0.1, 0.1, 0.6));
        assertEquals(Set.of("top1", "ece"), evaluator.metrics());
        assertEquals(evaluator.metrics(), evaluator.evaluate().values().keySet());
    }

    @Test
    void theLowestIndexWinsTies() {
        ClassificationEvaluator evaluator =
                new ClassificationEvaluator(new Labels(classes(6), List.of(0, 1, 5, 4)));
        ClassScores equal = scores(1, 1, 1, 1, 1, 1);
        IntStream.range(0, 4).forEach(i -> evaluator.process(i, equal));
        assertEquals(0.25, evaluator.evaluate().values().get("top1"));
        assertEquals(0.75, evaluator.evaluate().values().get("top5"));
    }

    @Test
    void memoryAndStateDoNotGrowWithTheClasses() {
        int images = 200;
        List<Integer> labels = IntStream.range(0, images).map(i -> i % 3).boxed().toList();
        ClassificationEvaluator evaluator =
                new ClassificationEvaluator(new Labels(classes(20_000), labels));
        ClassScores predicted = scores(new SplittableRandom(1).doubles(20_000).toArray());
        IntStream.range(0, images).forEach(i -> evaluator.process(i, predicted));
        assertEquals(4 + images * (4 + 5 * 4 + 8), evaluator.state().length);
    }

    @Test
    void mergesTheStatesOfRanks() {
        SplittableRandom random = new SplittableRandom(1);
        Labels dataset = new Labels(classes(8), random.ints(20, 0, 8).boxed().toList());
        ClassificationEvaluator whole = new ClassificationEvaluator(dataset);
        List<ClassificationEvaluator> ranks =
                IntStream.range(0, 3).mapToObj(i -> new ClassificationEvaluator(dataset)).toList();
        for (int i = 0; i < 20; i++) {
            ClassScores predicted = scores(random.doubles(8).toArray());
            whole.process(i, predicted);
            ranks.get(i % 3).process(i, predicted);
        }
        ranks.get(0).mergeState(ranks.get(1).state());
        ranks.get(0).mergeState(ranks.get(2).state());
        assertEquals(whole.evaluate(), ranks.get(0).evaluate());
        assertArrayEquals(whole.state(), ranks.get(0).state());
    }

    @Test
    void rejectsMissingPredictions() {
        ClassificationEvaluator evaluator =
                new ClassificationEvaluator(new Labels(classes(2), List.of(0, 1)));
        evaluator.process(1, scores(0, 1));
        IllegalStateException problem =
                assertThrows(IllegalStateException.class, evaluator::evaluate);
        assertTrue(problem.getMessage().contains("got predictions for 1 of 2 images"));
        evaluator.process(0, scores(0, 1));
        assertEquals(0.5, evaluator.evaluate().values().get("top1"));
        evaluator.reset();
        assertThrows(IllegalStateException.class, evaluator::evaluate);
    }
}
