package dev.saccade.models.segmentation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

class SegmentationInferenceTest {

    /** A network of 5 classes at stride 4 whose scores depend on the position. */
    private static final Script NETWORK =
            Script.compile(
                    "(x: Tensor) -> Tensor",
                    """
                    m = torch.amax(x, [1], True)
                    y = torch.cat([x, torch.sin(torch.mul(m, 3.0)), torch.mul(torch.cumsum(m, 2), 0.02)], 1)
                    size = [(torch.size(x, 2) + 3) // 4, (torch.size(x, 3) + 3) // 4]
                    return torch.mul(torch.adaptive_avg_pool2d(y, size), 3.0)
                    """);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private int runs;

    @AfterEach
    void free() {
        manager.close();
    }

    private NDArray image(int height, int width) {
        return manager.randomNormal(0, 1, new Shape(1, 3, height, width), DataType.FLOAT32);
    }

    private SegmentationInference maps(boolean alignCorners) {
        return new SegmentationInference(
                part -> {
                    runs++;
                    return NETWORK.run(part);
                },
                alignCorners);
    }

    private NDArray resized(NDArray scores, Size size, boolean alignCorners) {
        NDArray like = manager.zeros(new Shape(1, 1, size.height(), size.width()));
        return Interpolation.resizeTo(like, scores, alignCorners);
    }

    /** mmsegmentation's {@code whole_inference}, with the full map in memory. */
    private NDArray whole(NDArray image, Size wanted, boolean alignCorners) {
        NDArray seen = resized(NETWORK.run(image), SegmentationInference.size(image), alignCorners);
        return resized(seen, wanted, alignCorners);
    }

    /** mmsegmentation's {@code slide_inference}, with the full map in memory. */
    private NDArray sliding(NDArray image, int crop, int stride, Size wanted) {
        Size size = SegmentationInference.size(image);
        NDArray sums = manager.zeros(new Shape(1, 5, size.height(), size.width()));
        NDArray counts = manager.zeros(new Shape(1, 1, size.height(), size.width()));
        for (int i = 0; i < Math.max(size.height() - crop + stride - 1, 0) / stride + 1; i++) {
            for (int j = 0; j < Math.max(size.width() - crop + stride - 1, 0) / stride + 1; j++) {
                int bottom = Math.min(i * stride + crop, size.height());
                int right = Math.min(j * stride + crop, size.width());
                int top = Math.max(bottom - crop, 0);
                int left = Math.max(right - crop, 0);
                String part = ":, :, " + top + ":" + bottom + ", " + left + ":" + right;
                NDArray window = image.get(part).duplicate();
                NDArray scores =
                        resized(NETWORK.run(window), SegmentationInference.size(window), false);
                sums.set(new NDIndex(part), sums.get(part).add(scores));
                counts.set(new NDIndex(part), counts.get(part).add(1));
            }
        }
        return resized(sums.div(counts), wanted, false);
    }

    private static float[] tokens(NDArray scores) {
        return scores.transpose(0, 2, 3, 1).toFloatArray();
    }

    private static void assertSame(NDArray expected, ScoreMap map) {
        NDArray all = expected.get(0).transpose(1, 2, 0);
        Size size = map.size();
        for (int step : new int[] {7, 20, size.height() + size.width()}) {
            for (int top = 0; top < size.height(); top += step) {
                for (int left = 0; left < size.width(); left += step) {
                    Tile tile =
                            new Tile(
                                    top,
                                    Math.min(top + step, size.height()),
                                    left,
                                    Math.min(left + step, size.width()));
                    try (NDArray part = map.part(tile)) {
                        float[] wanted = all.get(tile.index()).toFloatArray();
                        assertArrayEquals(wanted, part.toFloatArray(), 2e-5f);
                    }
                }
            }
        }
    }

    @Test
    void rejectsTooManyWindows() {
        SlidingWindow window = new SlidingWindow(List.of(1, 1), List.of(1, 1));
        NDArray image = image(101, 100);
        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class,
                        () -> maps(false).sliding(image, window, 5, new Size(101, 100)));
        assertTrue(thrown.getMessage().contains("got 10100 windows"), thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"33, 47, 50, 71", "60, 40, 21, 13", "32, 32, 32, 32", "5, 9, 30, 31"})
    void wholeInferenceResizesTwice(int h, int w, int height, int width) {
        NDArray image = image(h, w);
        Size wanted = new Size(height, width);
        for (boolean align : new boolean[] {false, true}) {
            NDArray expected = whole(image, wanted, align);
            try (ScoreMap map = maps(align).whole(image.duplicate(), wanted)) {
                assertSame(expected, map);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "75, 100, 64, 40, 75, 100",
        "75, 100, 32, 32, 50, 61",
        "40, 33, 64, 40, 97, 80",
        "64, 96, 32, 16, 64, 96",
        "33, 65, 32, 31, 20, 20",
    })
    void slidingInferenceAveragesWindows(
            int h, int w, int crop, int stride, int height, int width) {
        NDArray image = image(h, w);
        Size wanted = new Size(height, width);
        NDArray expected = sliding(image, crop, stride, wanted);
        SlidingWindow window = new SlidingWindow(List.of(crop, crop), List.of(stride, stride));
        try (ScoreMap map = maps(false).sliding(image, window, 5, wanted)) {
            assertSame(expected, map);
        }
    }

    @Test
    void eachWindowIsPredictedOnceAndFreed() {
        NDArray image = image(320, 64);
        SlidingWindow window = new SlidingWindow(List.of(32, 32), List.of(16, 16));
        ScoreMap map = maps(false).sliding(image, window, 5, new Size(100, 30));
        int most = 0;
        int before = manager.getManagedArrays().size();
        for (int top = 0; top < 100; top += 4) {
            map.part(new Tile(top, top + 4, 0, 30)).close();
            most = Math.max(most, manager.getManagedArrays().size() - before);
        }
        assertEquals(19 * 3, runs);
        assertEquals(3 * 3, most, 3);
        map.close();
        assertEquals(before - 1, manager.getManagedArrays().size());
    }

    @Test
    void augmentationsAreAveragedAsProbabilities() {
        Size wanted = new Size(41, 37);
        NDArray sum = manager.zeros(new Shape(1, 5, 41, 37));
        List<ScoreMap> views = new ArrayList<>();
        for (int edge : new int[] {32, 48, 40}) {
            NDArray image = image(edge, edge);
            NDArray scores = whole(image, wanted, false);
            ScoreMap map = maps(false).whole(image, wanted);
            if (edge == 32) {
                scores = scores.flip(3);
                map = map.flipHorizontally();
            } else if (edge == 40) {
                scores = scores.flip(2);
                map = map.flipVertically();
            }
            sum = sum.add(scores.softmax(1));
            views.add(map);
        }
        NDArray mean = sum.div(3);
        long[] best = mean.argMax(1).toLongArray();
        for (int tile : new int[] {1, 3000, 1 << 20}) {
            MeanScoreMap all = new MeanScoreMap(views, tile);
            assertArrayEquals(
                    tokens(mean), all.probabilities(Tile.of(wanted)).toFloatArray(), 1e-5f);
            assertLabels(best, all.labels());
        }
    }

    private static void assertLabels(long[] expected, LabelMap found) {
        for (int i = 0; i < expected.length; i++) {
            int width = found.size().width();
            assertEquals(expected[i], found.get(i / width, i % width), "pixel " + i);
        }
    }

    @Test
    void equalScoresSelectTheFirstClass() {
        Size size = new Size(2, 3);
        for (int views : new int[] {1, 2}) {
            List<ScoreMap> same = new ArrayList<>();
            for (int i = 0; i < views; i++) {
                NDArray scores = manager.create(new float[] {0, 7, 7, 1}, new Shape(1, 4, 1, 1));
                same.add(ScoreMap.of(scores).resize(size, false));
            }
            try (MeanScoreMap mean = new MeanScoreMap(same)) {
                assertEquals(LabelMap.filled(size, 1), mean.labels());
            }
        }
    }

    @Test
    void rejectsWindowsWithGaps() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new SlidingWindow(List.of(32, 32), List.of(33, 16)));
        assertThrows(
                IllegalArgumentException.class, () -> new SlidingWindow(List.of(32), List.of(16)));
    }
}
