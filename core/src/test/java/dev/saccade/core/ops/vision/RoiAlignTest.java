package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

class RoiAlignTest {

    private static final int STRIDE = 4;
    private static final Shape MAP = new Shape(2, 3, 9, 11);

    private static final Boxes BOXES =
            Boxes.of(
                    0, 0, 44, 36, // all of the image
                    -9, -7, 60, 50, // more than the image
                    10, 10, 10, 30, // without width
                    20, 20, 12, 9, // swapped corners
                    -50, -50, -30, -20, // outside
                    3.3f, 5.1f, 17.9f, 20.2f, //
                    40, 2, 47, 35.9f, // over the right border
                    7, 30, 8, 31); // less than a cell

    private static final int[] IMAGES = {1, 0, 0, 1, 1, 0, 1, 0};

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "7, 7, 0, true",
        "3, 5, 2, true",
        "7, 7, 0, false",
        "1, 1, 0, true",
        "2, 3, 1, false"
    })
    void equalsTheDefinitionWithGradients(
            int height, int width, int samplingRatio, boolean aligned) {
        RoiAlign align = new RoiAlign(new Size(height, width), samplingRatio, aligned);
        float[] map = random(MAP.size());
        Shape shape = new Shape(BOXES.size(), MAP.get(1), height, width);
        float[] cotangent = random(shape.size());
        double[] expected = new double[cotangent.length];
        double[] expectedGradient = new double[map.length];
        byLoops(align, map, cotangent, expected, expectedGradient);

        for (Form form : FORMS) {
            NDArray features = MemoryFormat.channelsLast(manager.create(map, MAP));
            features.setRequiresGradient(true);
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDArray pooled =
                        form.pool(
                                align,
                                new FeaturePyramid(List.of(features)),
                                List.of(STRIDE),
                                rois(),
                                level(0));
                assertEquals(shape, pooled.getShape());
                assertClose(expected, pooled.toFloatArray());
                collector.backward(pooled.mul(manager.create(cotangent, shape)).sum());
            }
            assertClose(expectedGradient, features.getGradient().toFloatArray());
        }
    }

    /** An implementation. */
    private interface Form {
        NDArray pool(
                RoiAlign align,
                FeaturePyramid features,
                List<Integer> strides,
                Rois rois,
                NDArray levels);
    }

    private static final List<Form> FORMS =
            Kernels.status().loaded()
                    ? List.of(RoiAlign::portable, RoiAlign::fused)
                    : List.of(RoiAlign::portable);

    /** Full and partial channel vectors; both memory formats. */
    @ParameterizedTest
    @CsvSource({"1, 0, 7", "8, 2, 7", "21, 0, 14", "64, 0, 3", "300, 3, 2"})
    void allFormsAgree(int channels, int samplingRatio, int bins) {
        RoiAlign align = new RoiAlign(new Size(bins, bins), samplingRatio, true);
        NDArray levels = manager.create(new int[] {1, 0, 0, 1, 1, 0, 1, 0});
        NDArray fine = manager.create(random(2L * channels * 99), new Shape(2, channels, 9, 11));
        NDArray coarse = manager.create(random(2L * channels * 30), new Shape(2, channels, 5, 6));
        FeaturePyramid features =
                new FeaturePyramid(List.of(MemoryFormat.channelsLast(fine), coarse));
        features.levels().forEach(map -> map.setRequiresGradient(true));
        Shape shape = new Shape(BOXES.size(), channels, bins, bins);
        NDArray cotangent = manager.create(random(shape.size()), shape);
        List<List<float[]>> results = new ArrayList<>();
        for (Form form : FORMS) {
            List<float[]> result = new ArrayList<>();
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDArray pooled = form.pool(align, features, List.of(4, 8), rois(), levels);
                result.add(pooled.toFloatArray());
                collector.backward(pooled.mul(cotangent).sum());
            }
            for (NDArray map : features.levels()) {
                result.add(map.getGradient().toFloatArray());
                map.getGradient().muli(0);
            }
            results.add(result);
        }
        for (List<float[]> result : results) {
            for (int i = 0; i < result.size(); i++) {
                assertArrayEquals(results.get(0).get(i), result.get(i), 1e-5f, "result " + i);
            }
        }
    }

    @Test
    void poolsFromLevelsInTheGivenOrder() {
        NDArray fine = manager.create(random(MAP.size()), MAP);
        NDArray coarse = manager.create(random(2 * 3 * 5 * 6), new Shape(2, 3, 5, 6));
        RoiAlign align = new RoiAlign(new Size(7, 7), 0, true);
        NDArray both =
                align.pool(
                        new FeaturePyramid(List.of(fine, coarse)),
                        List.of(4, 8),
                        rois(),
                        manager.create(new int[] {1, 1, 0, 0, 1, 0, 1, 0}));
        NDArray fromFine = pool(align, fine);
        NDArray fromCoarse =
                align.pool(new FeaturePyramid(List.of(coarse)), List.of(8), rois(), level(0));
        assertArrayEquals(fromCoarse.get("0:2").toFloatArray(), both.get("0:2").toFloatArray());
        assertArrayEquals(fromFine.get("5").toFloatArray(), both.get("5").toFloatArray());
        assertArrayEquals(fromCoarse.get("6").toFloatArray(), both.get("6").toFloatArray());
        assertArrayEquals(fromFine.get("7").toFloatArray(), both.get("7").toFloatArray());
    }

    @Test
    void supportsZeroRegionsWithGradients() {
        NDArray features = manager.create(random(MAP.size()), MAP);
        features.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray pooled =
                    new RoiAlign(new Size(7, 7), 0, true)
                            .pool(
                                    new FeaturePyramid(List.of(features)),
                                    List.of(STRIDE),
                                    Rois.of(manager, Boxes.empty()),
                                    manager.create(new Shape(0), DataType.INT32));
            assertEquals(new Shape(0, 3, 7, 7), pooled.getShape());
            collector.backward(pooled.sum());
        }
        assertArrayEquals(new float[(int) MAP.size()], features.getGradient().toFloatArray());
    }

    @Test
    void doesNotDependOnTheNumberOfThreads() {
        Random random = new Random(3);
        float[] boxes = new float[4 * 300];
        for (int i = 0; i < boxes.length; i++) {
            boxes[i] = 300 * random.nextFloat() + (i % 4 < 2 ? 0 : 100);
        }
        Rois rois = Rois.of(manager, Boxes.of(boxes), new int[300]);
        Shape shape = new Shape(1, 64, 100, 100);
        float[] map = random(shape.size());
        int threads = JniUtils.getNumThreads();
        float[][] results = new float[4][];
        try {
            for (int n = 0; n < 2; n++) {
                JniUtils.setNumThreads(n == 0 ? 1 : 4);
                NDArray features = manager.create(map, shape);
                features.setRequiresGradient(true);
                try (GradientCollector collector =
                        Engine.getEngine("PyTorch").newGradientCollector()) {
                    NDArray pooled =
                            new RoiAlign(new Size(7, 7), 0, true)
                                    .pool(
                                            new FeaturePyramid(List.of(features)),
                                            List.of(STRIDE),
                                            rois,
                                            manager.zeros(new Shape(300), DataType.INT32));
                    results[2 * n] = pooled.toFloatArray();
                    collector.backward(pooled.mul(pooled).sum());
                }
                results[2 * n + 1] = features.getGradient().toFloatArray();
            }
        } finally {
            JniUtils.setNumThreads(threads);
        }
        assertArrayEquals(results[0], results[2]);
        assertArrayEquals(results[1], results[3]);
    }

    private Rois rois() {
        return Rois.of(manager, BOXES, IMAGES);
    }

    /** Assigns one level to all regions. */
    private NDArray level(int level) {
        return manager.full(new Shape(BOXES.size()), level, DataType.INT32);
    }

    private NDArray pool(RoiAlign align, NDArray features) {
        return align.pool(new FeaturePyramid(List.of(features)), List.of(STRIDE), rois(), level(0));
    }

    /** The definition, point by point. */
    private static void byLoops(
            RoiAlign align, float[] map, float[] cotangent, double[] out, double[] gradient) {
        int channels = (int) MAP.get(1);
        int height = (int) MAP.get(2);
        int width = (int) MAP.get(3);
        int rows = align.output().height();
        int columns = align.output().width();
        for (int r = 0; r < BOXES.size(); r++) {
            double offset = align.aligned() ? 0.5 : 0;
            double x = BOXES.x1(r) / STRIDE - offset;
            double y = BOXES.y1(r) / STRIDE - offset;
            double least = align.aligned() ? Double.NEGATIVE_INFINITY : 1;
            double w = Math.max(least, BOXES.width(r) / STRIDE) / columns;
            double h = Math.max(least, BOXES.height(r) / STRIDE) / rows;
            int ratio = align.samplingRatio();
            int nx = ratio > 0 ? ratio : (int) Math.ceil(w - 1e-6);
            int ny = ratio > 0 ? ratio : (int) Math.ceil(h - 1e-6);
            for (int bin = 0; bin < rows * columns; bin++) {
                for (int point = 0; point < Math.max(0, nx) * Math.max(0, ny); point++) {
                    int row = bin / columns;
                    int pointRow = point / nx;
                    double py = y + h * (row + (pointRow + 0.5) / ny);
                    double px = x + w * (bin % columns + (point % nx + 0.5) / nx);
                    if (py < -1 || py > height || px < -1 || px > width) {
                        continue;
                    }
                    py = Math.min(Math.max(py, 0), height - 1);
                    px = Math.min(Math.max(px, 0), width - 1);
                    for (int corner = 0; corner < 4; corner++) {
                        int cy = Math.min((int) py + corner / 2, height - 1);
                        int cx = Math.min((int) px + corner % 2, width - 1);
                        double fy = py - (int) py;
                        double fx = px - (int) px;
                        double weight =
                                (corner / 2 == 0 ? 1 - fy : fy)
                                        * (corner % 2 == 0 ? 1 - fx : fx)
                                        / (nx * ny);
                        for (int c = 0; c < channels; c++) {
                            int to = (r * channels + c) * rows * columns + bin;
                            int from = ((IMAGES[r] * channels + c) * height + cy) * width + cx;
                            out[to] += weight * map[from];
                            gradient[from] += weight * cotangent[to];
                        }
                    }
                }
            }
        }
    }

    private static float[] random(long size) {
        Random random = new Random(size);
        float[] values = new float[(int) size];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static void assertClose(double[] expected, float[] found) {
        assertArrayEquals(expected, toDoubles(found), 1e-4);
    }

    private static double[] toDoubles(float[] values) {
        double[] doubles = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            doubles[i] = values[i];
        }
        return doubles;
    }
}
