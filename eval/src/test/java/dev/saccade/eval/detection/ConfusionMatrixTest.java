package dev.saccade.eval.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.RandomScene;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.MatchStatus;
import dev.saccade.eval.detection.ConfusionMatrix.Confusion;

import org.junit.jupiter.api.Test;

import java.util.List;

class ConfusionMatrixTest {

    private static final MemoryDataset DATASET =
            new MemoryDataset("a", "b")
                    .addImage(1)
                    .object(0, 0, 0, 100, 100, 1e4)
                    .object(1, 150, 0, 100, 100, 1e4)
                    .crowd(1, 0, 150, 100, 100)
                    .addImage(2)
                    .object(1, 0, 0, 50, 50, 2500);

    private static ConfusionMatrix matrix(CocoDetections.Builder detections) {
        return ConfusionMatrix.compute(
                GroundTruth.collect(DATASET, IouType.BOX), detections.build(), IouType.BOX, .5);
    }

    @Test
    void countsConfusions() {
        ConfusionMatrix matrix =
                matrix(
                        new CocoDetections.Builder()
                                .add(1, 0, new Annotation.Bbox(0, 0, 100, 90), .9)
                                .add(1, 0, new Annotation.Bbox(150, 0, 100, 90), .8)
                                .add(1, 0, new Annotation.Bbox(10, 150, 50, 50), .7)
                                .add(1, 1, new Annotation.Bbox(10, 150, 50, 50), .6)
                                .add(2, 1, new Annotation.Bbox(0, 0, 50, 50), .4));
        assertEquals(
                List.of(List.of(1, 0, 0), List.of(1, 0, 1), List.of(1, 0, 0)), matrix.counts());
        assertEquals(List.of(new Confusion("b", "a", 1)), matrix.confusions());
        assertEquals(1, matrix.count(1, matrix.background()));
    }

    @Test
    void matchesTheCorrectClassFirst() {
        ConfusionMatrix matrix =
                matrix(
                        new CocoDetections.Builder()
                                .add(2, 0, new Annotation.Bbox(0, 0, 50, 50), .9)
                                .add(2, 1, new Annotation.Bbox(0, 0, 50, 40), .8));
        assertEquals(
                List.of(List.of(0, 0, 1), List.of(0, 1, 1), List.of(1, 0, 0)), matrix.counts());
    }

    @Test
    void diagonalEqualsTruePositives() {
        RandomScene scene = new RandomScene();
        GroundTruth groundTruth = GroundTruth.collect(scene.dataset, IouType.MASK);
        CocoDetections detections = scene.masks.build();
        for (IouType iouType : IouType.values()) {
            ConfusionMatrix matrix = ConfusionMatrix.compute(groundTruth, detections, iouType, 0);
            CocoMetrics metrics =
                    CocoMetrics.compute(
                            groundTruth, detections, CocoParameters.official(iouType), 1);
            int diagonal = 0;
            int objects = 0;
            for (int label = 0; label < 5; label++) {
                diagonal += matrix.count(label, label);
                objects += matrix.counts().get(label).stream().mapToInt(n -> n).sum();
            }
            assertEquals(
                    metrics.matchStatuses().stream()
                            .filter(v -> v == MatchStatus.TRUE_POSITIVE)
                            .count(),
                    diagonal);
            assertEquals(
                    metrics.perClass().stream().mapToInt(ClassMetrics::objects).sum(), objects);
        }
    }
}
