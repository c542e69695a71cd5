package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Compares focal attention with loops over the keys in the order of the official code. */
class FocalAttentionTest {

    private static final int IMAGES = 2;
    private static final int HEADS = 2;
    private static final int D = 3;
    private static final int C = HEADS * D;
    private static final int[][] COPIES = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /**
     * Narrow rings, half, more than half and a full window wide; maps of a single window, whose
     * ring is the window itself; no, one and several levels; windows of even size.
     */
    @ParameterizedTest
    @MethodSource
    void equalsTheOriginal(FocalRegion region, int rows, int columns) {
        int window = region.window();
        Reference reference = new Reference(region, rows * window, columns * window);
        FORMS.forEach(
                (name, form) -> {
                    // The attention shifts back at its end.
                    NDArray found = region.windows().arrange(reference.actual(form));
                    reference.assertExpected(found.toFloatArray(), name);
                });
    }

    static List<Arguments> equalsTheOriginal() {
        return List.of(
                arguments(new FocalRegion(3, 0, 1, 3, 1, false), 2, 3),
                arguments(new FocalRegion(3, 0, 1, 3, 1, true), 2, 3),
                arguments(new FocalRegion(3, 1, 1, 1, 1, false), 2, 2),
                arguments(new FocalRegion(3, 1, 1, 1, 1, true), 3, 2),
                arguments(new FocalRegion(4, 0, 2, 3, 2, false), 2, 1),
                arguments(new FocalRegion(4, 0, 3, 1, 0, false), 1, 3),
                arguments(new FocalRegion(4, 0, 4, 5, 3, true), 1, 2),
                arguments(new FocalRegion(5, 0, 2, 3, 2, false), 1, 1),
                arguments(new FocalRegion(3, 0, 0, 3, 2, false), 2, 2));
    }

    /** An implementation. */
    private interface Form {
        NDArray of(
                FocalRegion region, NDArray qkv, Optional<NDArray> cells, NDArray bias, Shape map);
    }

    private static final Map<String, Form> FORMS =
            Kernels.status().loaded()
                    ? Map.of("portable", FocalAttention::portable, "fused", FocalAttention::fused)
                    : Map.of("portable", FocalAttention::portable);

    /** Padded and shifted maps, one and several images, parts of an image and many parts. */
    @ParameterizedTest
    @MethodSource
    void fusedEqualsPortableWithGradients(FocalRegion region, Shape images, int heads, int d) {
        Shape map = images.add((long) heads * d);
        long channels = 3L * heads * d;
        NDArray qkv = region.windows().arrange(manager.randomNormal(images.add(channels)));
        long grid = qkv.getShape().get(1) * qkv.getShape().get(2) / region.area();
        long cells =
                IntStream.range(0, region.pooledLevels()).mapToLong(k -> grid << (2 * k)).sum();
        NDList inputs =
                new NDList(
                        qkv, manager.randomNormal(new Shape(heads, region.area(), region.keys())));
        if (region.pooledLevels() > 0) {
            inputs.add(manager.randomNormal(new Shape(images.get(0), cells, channels)));
        }
        inputs.forEach(input -> input.setRequiresGradient(true));
        NDArray cotangent = manager.randomNormal(map);
        List<float[]> expected =
                results(inputs, cotangent, in -> attend(FocalAttention::portable, region, in, map));
        FORMS.forEach(
                (name, form) -> {
                    List<float[]> actual =
                            results(inputs, cotangent, in -> attend(form, region, in, map));
                    for (int i = 0; i < expected.size(); i++) {
                        assertArrayEquals(
                                expected.get(i), actual.get(i), 1e-4f, name + ", result " + i);
                    }
                });
    }

    static List<Arguments> fusedEqualsPortableWithGradients() {
        return List.of(
                arguments(new FocalRegion(3, 0, 1, 3, 1, false), new Shape(1, 11, 13), 1, 5),
                arguments(new FocalRegion(3, 1, 2, 1, 0, false), new Shape(2, 7, 5), 2, 4),
                arguments(new FocalRegion(4, 2, 2, 3, 2, true), new Shape(1, 6, 10), 3, 8),
                arguments(new FocalRegion(7, 0, 3, 7, 1, false), new Shape(1, 30, 20), 3, 32),
                arguments(new FocalRegion(7, 0, 3, 7, 1, false), new Shape(1, 20, 15), 2, 49),
                arguments(new FocalRegion(2, 0, 2, 3, 1, false), new Shape(40, 2, 3), 1, 17),
                arguments(new FocalRegion(7, 0, 0, 1, 1, false), new Shape(2, 7, 7), 4, 16));
    }

    private static NDArray attend(Form form, FocalRegion region, NDList inputs, Shape map) {
        Optional<NDArray> cells = inputs.stream().skip(2).findFirst();
        return form.of(region, inputs.get(0), cells, inputs.get(1), map);
    }

    private static List<float[]> results(
            NDList inputs, NDArray cotangent, Function<NDList, NDArray> attention) {
        List<float[]> results = new ArrayList<>();
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray y = attention.apply(inputs);
            results.add(y.toFloatArray());
            collector.backward(y.mul(cotangent).sum());
        }
        for (NDArray input : inputs) {
            results.add(input.getGradient().toFloatArray());
            input.getGradient().muli(0);
        }
        return results;
    }

    /** Padding counts in the output projection. */
    @Test
    void countsItsMultiplyAdds() {
        FocalRegion region = new FocalRegion(3, 0, 1, 3, 1, false);
        Reference reference = new Reference(region, 6, 9);
        Shape map = new Shape(IMAGES, 5, 8, C);
        FORMS.values()
                .forEach(
                        form ->
                                assertEquals(
                                        2L * IMAGES * 54 * C * (25 + 9)
                                                + IMAGES * (54 - 40) * C * C,
                                        MultiplyAdds.count(
                                                () -> reference.actual(form, map).close())));
    }

    private final class Reference {

        private final FocalRegion region;
        private final int m;
        private final int height;
        private final int width;
        private final NDArray map;
        private final NDArray cells;
        private final NDArray own;
        private final NDArray neighbors;
        private final NDArray[] windows;

        Reference(FocalRegion region, int height, int width) {
            this.region = region;
            this.height = height;
            this.width = width;
            m = region.window();
            map = random(IMAGES, height, width, 3 * C);
            cells = random(IMAGES, Math.max(1, start(region.pooledLevels())), 3 * C);
            own = random((2 * m - 1) * (2 * m - 1), HEADS);
            neighbors = random(1, HEADS, m * m, Math.max(1, region.neighbors()));
            windows =
                    IntStream.range(0, region.pooledLevels())
                            .map(level -> m + region.cells(level) - 1)
                            .mapToObj(side -> random(HEADS, side * side))
                            .toArray(NDArray[]::new);
        }

        private NDArray random(int... shape) {
            return manager.randomNormal(new Shape(IntStream.of(shape).asLongStream().toArray()));
        }

        /** Returns the index of the first cell of a level. */
        private int start(int level) {
            int grid = height / m * (width / m);
            return IntStream.range(0, level).map(before -> grid << (2 * before)).sum();
        }

        void assertExpected(float[] actual, String form) {
            int at = 0;
            for (int n = 0; n < IMAGES; n++) {
                for (int y = 0; y < height; y++) {
                    for (int x = 0; x < width; x++) {
                        for (int head = 0; head < HEADS; head++, at += D) {
                            float[] found = Arrays.copyOfRange(actual, at, at + D);
                            assertArrayEquals(expected(n, y, x, head), found, 1e-5f, form);
                        }
                    }
                }
            }
        }

        NDArray actual(Form form) {
            return actual(form, map.getShape());
        }

        NDArray actual(Form form, Shape cropped) {
            Optional<NDArray> ring = Optional.of(neighbors).filter(n -> region.expand() > 0);
            Optional<NDArray> pooled = Optional.of(cells).filter(c -> region.pooledLevels() > 0);
            NDArray bias = FocalBias.lookUp(region, own, ring, List.of(windows));
            return form.of(region, map, pooled, bias, cropped);
        }

        float[] expected(int n, int y, int x, int head) {
            Query query = new Query(n, y, x, head);
            query.attend();
            return query.output();
        }

        /** A head of a token of the arranged map, with the keys added so far. */
        private final class Query {

            private final int n;
            private final int y;
            private final int x;
            private final int head;
            private final double[] values = new double[D];
            private double weights;

            Query(int n, int y, int x, int head) {
                this.n = n;
                this.y = y;
                this.x = x;
                this.head = head;
            }

            float[] output() {
                float[] output = new float[D];
                for (int d = 0; d < D; d++) {
                    output[d] = (float) (values[d] / weights);
                }
                return output;
            }

            void attend() {
                for (int r = 0; r < m; r++) {
                    for (int c = 0; c < m; c++) {
                        window(r, c);
                    }
                }
                int slot = 0;
                for (int[] copy : COPIES) {
                    for (int r = 0; r < m; r++) {
                        for (int c = 0; c < m; c++) {
                            if (isKept(r, copy[0]) || isKept(c, copy[1])) {
                                neighbor(r, c, copy, slot++);
                            }
                        }
                    }
                }
                for (int level = 0; level < windows.length; level++) {
                    for (int v = 0; v < region.cells(level); v++) {
                        for (int u = 0; u < region.cells(level); u++) {
                            cell(level, v, u);
                        }
                    }
                }
            }

            /** Adds a key; null for a cell outside the grid. */
            private void add(float[] key, double bias) {
                float[] query = map.get(n, y, x).toFloatArray();
                double logit = bias;
                for (int d = 0; d < D; d++) {
                    logit += query[head * D + d] * key[C + head * D + d] / Math.sqrt(D);
                }
                weights += Math.exp(logit);
                for (int d = 0; d < D; d++) {
                    values[d] += Math.exp(logit) * key[2 * C + head * D + d];
                }
            }

            private void window(int r, int c) {
                int row = y / m * m + r;
                int column = x / m * m + c;
                int relative = (y - row + m - 1) * (2 * m - 1) + x - column + m - 1;
                boolean same = part(y, height) == part(row, height);
                boolean seen = same && part(x, width) == part(column, width);
                add(
                        map.get(n, row, column).toFloatArray(),
                        own.getFloat(relative, head) - (seen ? 0 : 100));
            }

            /** Returns whether a position of a shifted map came from the other side. */
            private boolean part(int at, int size) {
                return region.shift() > 0 && at >= size - region.shift();
            }

            private boolean isKept(int at, int direction) {
                return direction > 0 ? at >= m - region.expand() : at < region.expand();
            }

            private void neighbor(int r, int c, int[] copy, int slot) {
                int row = y / m * m + r + copy[0] * region.expand();
                int column = x / m * m + c + copy[1] * region.expand();
                boolean wraps = row < 0 || row >= height || column < 0 || column >= width;
                int query = y % m * m + x % m;
                float bias = neighbors.getFloat(0, head, query, slot);
                int wrappedRow = Math.floorMod(row, height);
                int wrappedColumn = Math.floorMod(column, width);
                add(
                        map.get(n, wrappedRow, wrappedColumn).toFloatArray(),
                        bias - (wraps && region.maskWrapped() ? 100 : 0));
            }

            private void cell(int level, int v, int u) {
                int parts = 1 << level;
                int row = y / m * parts + v - region.focalWindow() / 2;
                int column = x / m * parts + u - region.focalWindow() / 2;
                int across = width / m * parts;
                boolean inside =
                        row >= 0 && row < height / m * parts && column >= 0 && column < across;
                int side = m + region.cells(level) - 1;
                int down = y % m - v + region.cells(level) - 1;
                int right = x % m - u + region.cells(level) - 1;
                float bias = windows[level].getFloat(head, down * side + right);
                add(
                        inside
                                ? cells.get(n, start(level) + row * across + column).toFloatArray()
                                : new float[3 * C],
                        bias - (inside ? 0 : 100));
            }
        }
    }
}
