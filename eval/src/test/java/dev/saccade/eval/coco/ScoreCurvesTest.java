package dev.saccade.eval.coco;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.RandomScene;
import dev.saccade.eval.coco.ScoreCurve.Point;
import dev.saccade.eval.detection.ConfusionMatrix;
import dev.saccade.models.ScoreThresholds;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

class ScoreCurvesTest {

    private static final double EXACT = 1e-12;

    private final RandomScene scene = new RandomScene();
    private final GroundTruth groundTruth = GroundTruth.collect(scene.dataset, IouType.BOX);
    private final CocoDetections detections = scene.masks.build();
    private final ScoreCurves curves = curves(groundTruth, detections);

    private static ScoreCurves curves(GroundTruth groundTruth, CocoDetections detections) {
        return CocoMetrics.compute(groundTruth, detections, CocoParameters.official(IouType.BOX), 1)
                .scoreCurves();
    }

    /** Curves equal the confusion matrix at every minimum score. */
    @Test
    void equalsTheConfusionMatrixAtEveryScore() {
        for (int step = 0; step <= ScoreCurve.STEPS; step++) {
            ConfusionMatrix matrix =
                    ConfusionMatrix.compute(
                            groundTruth, detections, IouType.BOX, ScoreCurve.score(step));
            for (int k = 0; k < curves.classes().size(); k++) {
                int label = k;
                ScoreCurve curve = curves.classes().get(k);
                assertEquals(matrix.count(k, k), curve.truePositives().get(step), curve.name());
                assertEquals(
                        matrix.counts().get(label).stream().mapToInt(n -> n).sum(),
                        curve.objects());
                double precision = curve.at(step).precision();
                double counted =
                        curve.truePositives().get(step) + (double) curve.falsePositives().get(step);
                assertEquals(curve.truePositives().get(step), precision * counted, EXACT);
            }
        }
    }

    @Test
    void bestScoreHasTheHighestF1() {
        for (ScoreCurve curve : curves.classes()) {
            Point best = curve.best().orElse(curve.at(ScoreCurve.STEPS));
            for (int step = 0; step <= ScoreCurve.STEPS; step++) {
                Point other = curve.at(step);
                assertTrue(
                        other.f1() < best.f1()
                                || (other.f1() == best.f1() && other.score() <= best.score()));
            }
            double sum = best.precision() + best.recall();
            assertEquals(2 * best.precision() * best.recall(), best.f1() * sum, EXACT);
        }
        assertTrue(curves.classes().stream().filter(c -> c.best().isPresent()).count() > 1);
        double highest = curves.mean().stream().mapToDouble(Point::f1).max().orElseThrow();
        assertEquals(highest, curves.best().orElseThrow().f1());
    }

    /** A detection with a lower score never takes an object from one with a higher score. */
    @Test
    void recallDecreasesWithScore() {
        for (ScoreCurve curve : curves.classes()) {
            for (int step = 1; step <= ScoreCurve.STEPS; step++) {
                assertTrue(curve.truePositives().get(step) <= curve.truePositives().get(step - 1));
                assertTrue(
                        curve.falsePositives().get(step) <= curve.falsePositives().get(step - 1));
                assertTrue(curve.at(step).recall() <= 1);
            }
        }
    }

    @Test
    void recommendsTheHighestOfEqualScores() {
        MemoryDataset dataset =
                new MemoryDataset("cat", "dog", "none")
                        .addImage(1)
                        .object(0, 0, 0, 100, 100, 1e4)
                        .object(0, 200, 0, 100, 100, 1e4)
                        .object(1, 0, 200, 100, 100, 1e4);
        ScoreCurves measured =
                curves(
                        GroundTruth.collect(dataset, IouType.BOX),
                        new CocoDetections.Builder()
                                .add(1, 0, new Annotation.Bbox(0, 0, 100, 100), .909)
                                .add(1, 0, new Annotation.Bbox(200, 0, 100, 100), .30)
                                .add(1, 0, new Annotation.Bbox(0, 300, 100, 100), .30)
                                .add(1, 1, new Annotation.Bbox(200, 200, 100, 100), .8)
                                .add(1, 2, new Annotation.Bbox(0, 0, 100, 100), .7)
                                .build());
        // Equal scores count together: 2 * 2 / (3 + 2) exceeds 2 * 1 / (1 + 2).
        assertEquals(Optional.of(new Point(.30, 2 / 3.0, 1, .8)), measured.classes().get(0).best());
        assertEquals(Optional.empty(), measured.classes().get(1).best());
        assertEquals(Optional.empty(), measured.classes().get(2).best());
        // The mean covers the two classes with objects.
        assertEquals(new Point(.30, 1 / 3.0, .5, .4), measured.best().orElseThrow());
        assertEquals(
                Optional.of(new ScoreThresholds(.30, Map.of("cat", .30))), measured.thresholds());
        assertEquals(.90, best(90).orElseThrow().score());
    }

    /** Returns the best point for one correct detection of one object. */
    private static Optional<Point> best(int reached) {
        int[] right =
                IntStream.rangeClosed(0, ScoreCurve.STEPS)
                        .map(step -> step <= reached ? 1 : 0)
                        .toArray();
        return new ScoreCurve(
                        "cat",
                        1,
                        ImmutableIntArray.copyOf(right),
                        ImmutableIntArray.copyOf(new int[ScoreCurve.STEPS + 1]))
                .best();
    }

    @Test
    void recommendsNothingWithoutTruePositives() {
        ScoreCurves none = curves(groundTruth, new CocoDetections.Builder().build());
        assertTrue(none.best().isEmpty());
        assertTrue(none.thresholds().isEmpty());
        assertTrue(none.classes().stream().allMatch(curve -> curve.best().isEmpty()));
    }
}
