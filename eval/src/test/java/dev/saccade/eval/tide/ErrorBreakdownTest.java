package dev.saccade.eval.tide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.RandomScene;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;

class ErrorBreakdownTest {

    private static final double HALF = 51 / 101.0;

    private static ErrorBreakdown breakdown(
            MemoryDataset dataset, CocoDetections.Builder detections) {
        GroundTruth groundTruth = GroundTruth.collect(dataset, IouType.BOX);
        return ErrorBreakdown.compute(groundTruth, detections.build(), IouType.BOX, 100);
    }

    private static void check(
            ErrorBreakdown breakdown, DetectionError error, int count, double gain) {
        ErrorBreakdown.Row row = breakdown.row(error);
        assertEquals(count, row.count(), error.name());
        assertEquals(gain, row.gain(), 1e-9, error.name());
    }

    /**
     * Results of tidecv 1.0.1 at COCO's recall thresholds, which differ from its own in the last
     * bit; its error counts include crowds.
     */
    @ParameterizedTest
    @EnumSource
    void equalsTide(IouType iouType) {
        RandomScene scene = new RandomScene();
        CocoDetections tied = scene.masks.build();
        CocoDetections.Builder distinct = new CocoDetections.Builder();
        for (int i = 0; i < tied.size(); i++) {
            distinct.add(
                    tied.imageId(i),
                    tied.label(i),
                    tied.mask(i).orElseThrow(),
                    tied.score(i) - i * 1e-6);
        }
        GroundTruth groundTruth = GroundTruth.collect(scene.dataset, IouType.MASK);
        ErrorBreakdown breakdown =
                ErrorBreakdown.compute(groundTruth, distinct.build(), iouType, 100);
        assertEquals(0.4412539090447506, breakdown.ap(), 1e-9);
        check(breakdown, DetectionError.CLASSIFICATION, 10, 0.10598997256390724);
        check(breakdown, DetectionError.LOCALIZATION, 9, 0.059014657394022264);
        check(breakdown, DetectionError.BOTH, 4, 0.002641951768952211);
        check(breakdown, DetectionError.DUPLICATE, 26, 0.059900022137841305);
        check(breakdown, DetectionError.BACKGROUND, 19, 0.04757538880100036);
        check(breakdown, DetectionError.MISSED, 11, 0.08685154229708665);
    }

    @Test
    void classifiesErrors() {
        MemoryDataset dataset =
                new MemoryDataset("a", "b")
                        .addImage(1)
                        .object(0, 0, 0, 100, 100, 1e4)
                        .object(1, 150, 0, 100, 100, 1e4)
                        .addImage(2)
                        .object(0, 0, 0, 50, 50, 2500);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(0, 0, 100, 100), .9)
                        .add(1, 0, new Annotation.Bbox(0, 0, 100, 100), .8)
                        .add(1, 0, new Annotation.Bbox(150, 0, 100, 100), .7)
                        .add(1, 1, new Annotation.Bbox(200, 0, 100, 100), .6)
                        .add(1, 0, new Annotation.Bbox(0, 150, 50, 50), .5)
                        .add(1, 0, new Annotation.Bbox(200, 0, 100, 100), .4);
        ErrorBreakdown breakdown = breakdown(dataset, detections);
        assertEquals(HALF / 2, breakdown.ap(), 1e-9);
        check(breakdown, DetectionError.CLASSIFICATION, 1, .5);
        check(breakdown, DetectionError.LOCALIZATION, 1, 0);
        check(breakdown, DetectionError.BOTH, 1, 0);
        check(breakdown, DetectionError.DUPLICATE, 1, 0);
        check(breakdown, DetectionError.BACKGROUND, 1, 0);
        check(breakdown, DetectionError.MISSED, 1, .5 - HALF / 2);
    }

    @Test
    void falsePositivesLowerThePrecisionOfLowerScores() {
        MemoryDataset dataset =
                new MemoryDataset("a")
                        .addImage(1)
                        .object(0, 0, 0, 100, 100, 1e4)
                        .object(0, 150, 0, 100, 100, 1e4);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(0, 0, 100, 100), .9)
                        .add(1, 0, new Annotation.Bbox(5, 0, 100, 100), .8)
                        .add(1, 0, new Annotation.Bbox(200, 150, 100, 100), .7)
                        .add(1, 0, new Annotation.Bbox(150, 0, 100, 100), .6);
        ErrorBreakdown breakdown = breakdown(dataset, detections);
        double rest = 50 / 101.0;
        assertEquals(HALF + rest / 2, breakdown.ap(), 1e-9);
        check(breakdown, DetectionError.DUPLICATE, 1, rest * (2 / 3.0 - 1 / 2.0));
        check(breakdown, DetectionError.BACKGROUND, 1, rest * (2 / 3.0 - 1 / 2.0));
    }

    @Test
    void fixesTheBestMislocalizedDetection() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(1).object(0, 0, 0, 100, 100, 1e4);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(60, 0, 100, 100), .9)
                        .add(1, 0, new Annotation.Bbox(50, 0, 100, 100), .8);
        ErrorBreakdown breakdown = breakdown(dataset, detections);
        assertEquals(0, breakdown.ap());
        check(breakdown, DetectionError.LOCALIZATION, 2, 1);
        check(breakdown, DetectionError.MISSED, 0, 0);
    }

    @Test
    void emptyDataSetHasNoErrors() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(1);
        CocoDetections.Builder detections =
                new CocoDetections.Builder().add(1, 0, new Annotation.Bbox(0, 0, 9, 9), .9);
        ErrorBreakdown breakdown = breakdown(dataset, detections);
        assertEquals(0, breakdown.ap());
        check(breakdown, DetectionError.BACKGROUND, 1, 0);
        assertEquals(List.of(), breakdown.rows().stream().filter(row -> row.gain() > 0).toList());
    }
}
