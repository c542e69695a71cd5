package dev.saccade.eval.segmentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Workers;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.eval.segmentation.SegmentationEvaluation.Confusion;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class SegmentationMetricsTest {

    private static final double EXACT = 1e-12;
    private static final List<String> CLASSES = List.of("road", "sky", "tree", "car");

    private static LabelMap map(int... labels) {
        short[] stored = new short[labels.length];
        for (int i = 0; i < labels.length; i++) {
            stored[i] = (short) labels[i];
        }
        return LabelMap.of(new Size(1, labels.length), stored);
    }

    private static SegmentationMetrics metrics(LabelMap truth, LabelMap predicted) {
        PixelConfusionMatrix pixels = new PixelConfusionMatrix(CLASSES.size());
        BoundaryIou boundaries = new BoundaryIou(CLASSES.size());
        pixels.add(truth, predicted);
        boundaries.add(truth, predicted);
        return SegmentationMetrics.compute(CLASSES, pixels, boundaries);
    }

    @Test
    void equalsManualCounts() {
        SegmentationMetrics metrics = metrics(map(0, 0, 0, 1, 1, -1, -1), map(0, 0, 1, 1, 2, 2, 0));
        List<SegmentationClassMetrics> classes = metrics.perClass();
        assertEquals(2 / 3.0, classes.get(0).iou(), EXACT);
        assertEquals(1 / 3.0, classes.get(1).iou(), EXACT);
        assertEquals(0, classes.get(2).iou(), "predicted only");
        assertEquals(-1, classes.get(2).accuracy(), "nothing of it");
        assertEquals(-1, classes.get(3).iou(), "neither");
        assertEquals(3, classes.get(0).pixels());
        assertEquals(4 / 5.0, classes.get(0).dice(), EXACT);
        Map<String, Double> values = metrics.values();
        assertEquals((2 / 3.0 + 1 / 3.0 + 0) / 3, values.get("mIoU"), EXACT);
        assertEquals((2 / 3.0 + 1 / 2.0) / 2, values.get("mAcc"), EXACT);
        assertEquals(3 / 5.0, values.get("aAcc"), EXACT);
        assertEquals(values.get("mIoU"), metrics.meanIou());
        assertEquals(values.get("mAcc"), metrics.meanAccuracy());
        assertEquals(values.get("mDice"), metrics.meanDice());
        assertEquals(values.getOrDefault("boundary_mIoU", -1.0), metrics.meanBoundaryIou());
    }

    @Test
    void predictionsOutsideTheClassesAreWrong() {
        SegmentationMetrics metrics = metrics(map(0, 0, 1, 1), map(0, -1, 1, 9));
        assertEquals(0.5, metrics.perClass().get(0).iou(), EXACT);
        assertEquals(0.5, metrics.values().get("aAcc"), EXACT);
    }

    @Test
    void metricsAreUndefinedWithoutPixels() {
        assertEquals(Map.of(), metrics(map(-1, -1), map(0, 1)).values());
    }

    @Test
    void rejectsADifferentSize() {
        PixelConfusionMatrix pixels = new PixelConfusionMatrix(2);
        assertThrows(IllegalArgumentException.class, () -> pixels.add(map(0), map(0, 1)));
    }

    @Test
    void confusionsAreSortedByPixels() {
        PixelConfusionMatrix pixels = new PixelConfusionMatrix(CLASSES.size());
        BoundaryIou boundaries = new BoundaryIou(CLASSES.size());
        LabelMap truth = map(0, 0, 0, 0, 1, 1, 1, 2, -1);
        pixels.add(truth, map(0, 0, 2, 1, 0, 0, -1, 2, 0));
        SegmentationEvaluation evaluation =
                new SegmentationEvaluation(
                        SegmentationMetrics.compute(CLASSES, pixels, boundaries),
                        pixels,
                        ImmutableDoubleArray.of(pixels.meanIou()));
        // IoU of sky is 2/6, grass 0/4, road 1/2; the last class does not occur.
        assertEquals((2 / 6.0 + 0 + 1 / 2.0) / 3, evaluation.ious().get(0), 1e-12);
        assertEquals(Double.NaN, new PixelConfusionMatrix(2).meanIou());
        assertEquals(
                List.of(
                        new Confusion("sky", "road", 2, 2 / 3.0),
                        new Confusion("road", "sky", 1, 1 / 4.0),
                        new Confusion("road", "tree", 1, 1 / 4.0)),
                evaluation.confusions());
        assertEquals(
                List.of(
                        List.of(2L, 1L, 1L, 0L),
                        List.of(2L, 0L, 0L, 0L),
                        List.of(0L, 0L, 1L, 0L),
                        List.of(0L, 0L, 0L, 0L)),
                pixels.rows());
        assertEquals(
                List.of(
                        List.of("class", "predicted as", "pixels", "fraction"),
                        List.of("sky", "road", "2", "0.667")),
                SegmentationReport.confusions(evaluation, 1).rows());
    }

    @Test
    void resultDoesNotDependOnThreads() {
        List<LabelMap> truth = IntStream.range(0, 9).mapToObj(i -> random(i, 0.1)).toList();
        List<LabelMap> predicted = IntStream.range(9, 18).mapToObj(i -> random(i, 0)).toList();
        PixelConfusionMatrix one = new PixelConfusionMatrix(4);
        IntStream.range(0, 9).forEach(i -> one.add(truth.get(i), predicted.get(i)));
        PixelConfusionMatrix many = new PixelConfusionMatrix(4);
        try (Workers workers = new Workers("test", 3)) {
            workers.run(9, () -> i -> many.add(truth.get(i), predicted.get(i)));
        }
        long sum = 0;
        for (int row = 0; row < 4; row++) {
            for (int column = 0; column < 4; column++) {
                assertEquals(one.count(row, column), many.count(row, column));
                sum += one.count(row, column);
            }
        }
        assertEquals(truth.stream().mapToLong(m -> m.size().area() - m.histogram(4)[4]).sum(), sum);
    }

    @Test
    void boundaryIouIsStricterThanIou() {
        Size size = new Size(60, 80);
        LabelMap truth = box(size, 10, 50);
        LabelMap shifted = box(size, 12, 52);
        SegmentationClassMetrics car = metrics(truth, shifted).perClass().get(3);
        assertEquals(38 / 42.0, car.iou(), EXACT);
        assertTrue(car.boundaryIou() > 0 && car.boundaryIou() < car.iou(), car.toString());
        assertEquals(1, metrics(truth, truth).values().get("boundary_mIoU"), EXACT);
    }

    private static LabelMap box(Size size, int from, int to) {
        short[] labels = new short[(int) size.area()];
        for (int y = 10; y < 50; y++) {
            for (int x = from; x < to; x++) {
                labels[y * size.width() + x] = 3;
            }
        }
        return LabelMap.of(size, labels);
    }

    private static LabelMap random(int seed, double ignored) {
        SplittableRandom random = new SplittableRandom(seed);
        short[] labels = new short[31 * 17];
        for (int i = 0; i < labels.length; i++) {
            labels[i] =
                    (short) (random.nextDouble() < ignored ? LabelMap.IGNORE : random.nextInt(4));
        }
        return LabelMap.of(new Size(31, 17), labels);
    }
}
