package dev.saccade.eval.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.util.stream.Collectors.joining;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.eval.DenseScene;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.MatchStatus;
import dev.saccade.eval.tide.DetectionError;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class DetectionEvaluatorTest {

    private static final MemoryDataset DATASET =
            new MemoryDataset("a", "b")
                    .addImage(9)
                    .object(0, 10, 10, 50, 50, 2500)
                    .object(1, 100, 100, 50, 50, 2500)
                    .addImage(4)
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
    void returnsMetricsAndPredictionsPerImage() {
        DetectionEvaluation evaluation = evaluation(boxes(), PREDICTIONS);
        assertEquals(
                List.of(
                        MatchStatus.TRUE_POSITIVE,
                        MatchStatus.FALSE_POSITIVE,
                        MatchStatus.TRUE_POSITIVE),
                evaluation.boxes().matchStatuses());
        assertEquals(
                List.of(2, 1), evaluation.predictions().stream().map(Instances::size).toList());
        double expected = (1 + 51 / 101.0) / 2;
        assertEquals(expected, evaluation.values().get("AP"), 1e-12);
        assertEquals(9, evaluation.detections().imageId(0));
        assertEquals(50, evaluation.detections().box(0).width());
    }

    private static DetectionEvaluator boxes() {
        return Configs.of(DetectionEvaluator.Config.class).build(DATASET, TargetKind.BOXES, 1);
    }

    private static DetectionEvaluator masks(MemoryDataset dataset, IouType areaOf) {
        return new DetectionEvaluator.Config(areaOf, CocoParameters.OFFICIAL_LIMITS)
                .build(dataset, TargetKind.MASKS, 1);
    }

    private static DetectionEvaluation evaluation(
            DetectionEvaluator evaluator, List<Instances> predicted) {
        evaluator.reset();
        for (int i = 0; i < predicted.size(); i++) {
            evaluator.process(i, predicted.get(i));
        }
        return evaluator.evaluate();
    }

    @Test
    void reportsNonFinitePredictions() {
        DetectionEvaluator evaluator = boxes();
        evaluator.process(
                0,
                Instances.predicted(
                        Boxes.of(1, Float.NaN, 2, Float.NaN), new int[1], new float[] {1}));
        evaluator.process(1, PREDICTIONS.get(1));
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> evaluator.evaluate());
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(
                thrown.getMessage().startsWith("image 9: the model predicts NaN or infinity (box"),
                thrown.getMessage());
        assertTrue(
                thrown.getMessage().contains("lower optimizer.learning_rate"), thrown.getMessage());
    }

    @Test
    void largerLimitCountsAllObjects() {
        DenseScene scene = new DenseScene();
        for (int limit : new int[] {100, 500}) {
            DetectionEvaluator.Config config =
                    new DetectionEvaluator.Config(IouType.MASK, List.of(1, 10, limit));
            DetectionEvaluation evaluation =
                    DetectionEvaluation.compute(
                            scene.dataset, scene.boxes.build(), config, false, 1);
            double ap = limit == 100 ? 0.20939859974888295 : 0.28631095873289275;
            assertEquals(ap, evaluation.values().get("AP"), 1e-9);
            assertTrue(evaluation.values().containsKey("AR@" + limit));
            int hits =
                    evaluation.boxes().scoreCurves().classes().stream()
                            .mapToInt(curve -> curve.truePositives().get(0))
                            .sum();
            assertEquals(limit == 100, hits < 400, "recommended scores see " + hits);
            int missed = evaluation.errors().get(0).row(DetectionError.MISSED).count();
            assertEquals(limit == 100, missed > 300, "TIDE misses " + missed);
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new DetectionEvaluator.Config(IouType.MASK, List.of(100, 10)));
    }

    @Test
    void orderOfImagesDoesNotMatter() {
        DetectionEvaluator evaluator = boxes();
        evaluator.process(1, PREDICTIONS.get(1));
        assertThrows(IllegalStateException.class, evaluator::evaluate);
        evaluator.process(0, PREDICTIONS.get(0));
        assertEquals(evaluation(boxes(), PREDICTIONS).values(), evaluator.evaluate().values());
    }

    @Test
    void mergesTheStateOfAnotherRank() {
        for (boolean masked : List.of(false, true)) {
            List<Instances> predicted =
                    masked
                            ? List.of(
                                    PREDICTIONS
                                            .get(0)
                                            .withMasks(
                                                    List.of(
                                                            box(10, 10, 50, 20),
                                                            box(200, 10, 20, 20))),
                                    PREDICTIONS.get(1).withMasks(List.of(box(20, 20, 60, 60))))
                            : PREDICTIONS;
            DetectionEvaluator first = masked ? masks(DATASET, IouType.MASK) : boxes();
            DetectionEvaluator second = masked ? masks(DATASET, IouType.MASK) : boxes();
            DetectionEvaluation whole = evaluation(first, predicted);
            first.reset();
            first.process(0, predicted.get(0));
            second.process(1, predicted.get(1));
            first.mergeState(second.state());
            DetectionEvaluation parted = first.evaluate();
            assertEquals(whole.values(), parted.values());
            assertEquals(whole.boxes().matchStatuses(), parted.boxes().matchStatuses());
            assertEquals(whole.predictions().toString(), parted.predictions().toString());
        }
    }

    @Test
    void evaluatesMasksAndBoxes() {
        DetectionEvaluator evaluator = masks(DATASET, IouType.MASK);
        List<Instances> masked =
                List.of(
                        PREDICTIONS
                                .get(0)
                                .withMasks(List.of(box(10, 10, 50, 20), box(200, 10, 20, 20))),
                        PREDICTIONS.get(1).withMasks(List.of(box(20, 20, 60, 60))));
        DetectionEvaluation evaluation = evaluation(evaluator, masked);
        assertEquals((1 + 51 / 101.0) / 2, evaluation.values().get("AP"), 1e-12);
        assertEquals(51 / 101.0 / 2, evaluation.values().get("mask_AP"), 1e-12);
        DetectionMetrics averages = evaluation.averages();
        assertEquals(51 / 101.0 / 2, averages.masks().orElseThrow().ap(), 1e-12);
        assertEquals(evaluation.values().get("AP"), averages.boxes().ap());
        assertEquals(List.of(averages), evaluation.records());
        assertEquals(51 / 101.0 / 2, evaluation.values().get("mask_APm"), 1e-12);
        assertEquals(2, evaluation.errors().size());
        assertEquals(
                """
                metric        IoU    area  detections    box   mask
                AP      0.50:0.95     all         100  0.752  0.252\
                """,
                DetectionTables.summary(evaluation.metrics())
                        .toString()
                        .lines()
                        .limit(2)
                        .collect(joining("\n")));
    }

    private static Rle box(int x, int y, int width, int height) {
        return Rle.fromBox(MemoryDataset.SIZE, x, y, width, height);
    }

    @Test
    void maskAreaCanComeFromTheBox() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(1).object(0, 0, 0, 40, 40, 1600);
        Instances stray =
                Instances.predicted(
                                Boxes.of(0, 0, 40, 40, 100, 100, 140, 140),
                                new int[] {0, 0},
                                new float[] {.8f, .9f})
                        .withMasks(List.of(box(0, 0, 40, 40), box(100, 100, 20, 20)));
        List<Double> mediums = new ArrayList<>();
        for (IouType areaOf : IouType.values()) {
            DetectionEvaluator evaluator = masks(dataset, areaOf);
            mediums.add(evaluation(evaluator, List.of(stray)).values().get("mask_APm"));
        }
        assertEquals(.5, mediums.get(0), 1e-12);
        assertEquals(1, mediums.get(1), 1e-12);
    }

    @Test
    void evaluatesMasksWithoutDetections() {
        DetectionEvaluator evaluator = masks(DATASET, IouType.MASK);
        DetectionEvaluation evaluation =
                evaluation(evaluator, List.of(Instances.empty(), Instances.empty()));
        assertEquals(0, evaluation.values().get("mask_AP"));
    }

    @Test
    void maskMetricsNeedMaskAnnotations() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(1);
        for (int i = 0; i < 30; i++) {
            dataset.withoutMask(0, 0, 0, 40, 40);
        }
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> masks(dataset, IouType.MASK));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("annotation 3 has no mask"), e.getMessage());
        assertTrue(e.getMessage().contains("30 problems"), e.getMessage());
    }
}
