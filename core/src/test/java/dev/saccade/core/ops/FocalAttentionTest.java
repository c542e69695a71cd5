package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Focal attention beside plain loops over the keys as the official code lists them. */
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
     * Rings that are narrow, half a window, more and a whole one wide; maps of one window, whose
     * ring is the window itself; several levels, and none; windows of an even number of tokens.
     */
    @ParameterizedTest
    @CsvSource({
        "3, 0, 1, 3, 1, false, 2, 3",
        "3, 0, 1, 3, 1, true, 2, 3",
        "3, 1, 1, 1, 1, false, 2, 2",
        "3, 1, 1, 1, 1, true, 3, 2",
        "4, 0, 2, 3, 2, false, 2, 1",
        "4, 0, 3, 1, 0, false, 1, 3",
        "4, 0, 4, 5, 3, true, 1, 2",
        "5, 0, 2, 3, 2, false, 1, 1",
        "3, 0, 0, 3, 2, false, 2, 2",
    })
    void isThatOfTheOriginal(
            int window,
            int shift,
            int expand,
            int focalWindow,
            int levels,
            boolean maskWrapped,
            int rows,
            int columns) {
        FocalRegion region =
                new FocalRegion(window, shift, expand, focalWindow, levels, maskWrapped);
        Reference reference = new Reference(region, rows * window, columns * window);
        // The attention shifts back at its end.
        float[] actual = region.windows().arrange(reference.actual()).toFloatArray();
        int at = 0;
        for (int n = 0; n < IMAGES; n++) {
            for (int y = 0; y < rows * window; y++) {
                for (int x = 0; x < columns * window; x++) {
                    for (int head = 0; head < HEADS; head++, at += D) {
                        float[] found = Arrays.copyOfRange(actual, at, at + D);
                        assertArrayEquals(reference.expected(n, y, x, head), found, 1e-5f);
                    }
                }
            }
        }
    }

    @Test
    void countsItsMultiplyAdds() {
        FocalRegion region = new FocalRegion(3, 0, 1, 3, 1, false);
        Reference reference = new Reference(region, 6, 9);
        long count = MultiplyAdds.count(() -> reference.actual().close());
        assertEquals(2L * IMAGES * 54 * C * (25 + 9), count);
    }

    /** Random inputs. */
    private final class Reference {

        private final FocalRegion region;
        private final int m;
        private final int height;
        private final int width;
        private final NDArray map;
        private final NDArray cells;
        private final NDArray own;
        private final NDArray neighbours;
        private final NDArray[] windows;

        Reference(FocalRegion region, int height, int width) {
            this.region = region;
            this.height = height;
            this.width = width;
            m = region.window();
            map = random(IMAGES, height, width, 3 * C);
            cells = random(IMAGES, Math.max(1, start(region.pooledLevels())), 3 * C);
            own = random((2 * m - 1) * (2 * m - 1), HEADS);
            neighbours = random(1, HEADS, m * m, Math.max(1, region.neighbours()));
            windows =
                    IntStream.range(0, region.pooledLevels())
                            .map(level -> m + region.cells(level) - 1)
                            .mapToObj(side -> random(HEADS, side * side))
                            .toArray(NDArray[]::new);
        }

        private NDArray random(int... shape) {
            return manager.randomNormal(new Shape(IntStream.of(shape).asLongStream().toArray()));
        }

        /** Returns the first cell of a level. */
        private int start(int level) {
            int grid = height / m * (width / m);
            return IntStream.range(0, level).map(before -> grid << (2 * before)).sum();
        }

        NDArray actual() {
            Optional<NDArray> ring = Optional.of(neighbours).filter(n -> region.expand() > 0);
            Optional<NDArray> pooled = Optional.of(cells).filter(c -> region.pooledLevels() > 0);
            NDArray bias = FocalBias.of(region, own, ring, List.of(windows));
            return FocalAttention.of(region, map, pooled, bias, map.getShape());
        }

        float[] expected(int n, int y, int x, int head) {
            Query query = new Query(n, y, x, head);
            query.attend();
            return query.output();
        }

        /** A head of a token of the arranged map, with the keys it has met so far. */
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
                                neighbour(r, c, copy, slot++);
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

            /** Adds a key by its numbers, none for one outside of the grid. */
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

            /** What of a shifted map came from the other side. */
            private boolean part(int at, int size) {
                return region.shift() > 0 && at >= size - region.shift();
            }

            private boolean isKept(int at, int direction) {
                return direction > 0 ? at >= m - region.expand() : at < region.expand();
            }

            private void neighbour(int r, int c, int[] copy, int slot) {
                int row = y / m * m + r + copy[0] * region.expand();
                int column = x / m * m + c + copy[1] * region.expand();
                boolean wraps = row < 0 || row >= height || column < 0 || column >= width;
                int query = y % m * m + x % m;
                float bias = neighbours.getFloat(0, head, query, slot);
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
