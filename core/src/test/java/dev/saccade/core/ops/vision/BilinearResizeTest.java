package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.function.Supplier;
import java.util.stream.IntStream;

class BilinearResizeTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "8, 9, 32, 36, 4",
        "8, 9, 32, 36, 1",
        "5, 7, 23, 31, 3",
        "31, 40, 7, 11, 2",
        "1, 1, 6, 5, 3",
        "1, 4, 1, 9, 2",
        "6, 5, 6, 5, 3",
        "9, 3, 1, 1, 5",
        "3, 1, 8, 1, 4",
    })
    void partsEqualTheWhole(int h, int w, int height, int width, int classes) {
        NDArray x = manager.randomNormal(0, 1, new Shape(1, classes, h, w), DataType.FLOAT32);
        NDArray like = manager.zeros(new Shape(1, 1, height, width));
        NDArray tokens = x.transpose(0, 2, 3, 1).get(0).duplicate();
        for (boolean alignCorners : new boolean[] {false, true}) {
            float[] whole =
                    Interpolation.resizeTo(like, x, alignCorners)
                            .transpose(0, 2, 3, 1)
                            .toFloatArray();
            BilinearResize resize =
                    new BilinearResize(new Size(h, w), new Size(height, width), alignCorners);
            NDArray wide = resize.columns(tokens);
            BilinearResize widen =
                    new BilinearResize(new Size(h, w), new Size(h, width), alignCorners);
            NDArray same = part(widen, tokens, 0, h, 0, width);
            assertArrayEquals(wide.toFloatArray(), same.toFloatArray(), 2e-6f);
            NDArray expected = manager.create(whole, new Shape(height, width, classes));
            for (int step : new int[] {1, 3, height + width}) {
                for (int t = 0; t < height; t += step) {
                    for (int l = 0; l < width; l += step) {
                        int top = t;
                        int left = l;
                        int bottom = Math.min(top + step, height);
                        int right = Math.min(left + step, width);
                        String place = top + ":" + bottom + ", " + left + ":" + right;
                        Supplier<float[]> found =
                                () -> part(resize, tokens, top, bottom, left, right).toFloatArray();
                        float[] values = expected.get(place).toFloatArray();
                        assertArrayEquals(values, found.get(), 2e-6f);
                        assertArrayEquals(values, OperatorLibrary.callPortable(found), 2e-6f);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 16, 150, 300})
    void labelsAreTheFirstLargestChannels(int classes) {
        BilinearResize resize = new BilinearResize(new Size(6, 7), new Size(23, 19), false);
        BilinearResize.Band rows = resize.rows(4, 21);
        BilinearResize.Band columns = resize.columns(2, 19);
        NDArray x =
                manager.randomNormal(
                        0,
                        1,
                        new Shape(
                                rows.last() - rows.first(),
                                columns.last() - columns.first(),
                                classes),
                        DataType.FLOAT32);
        int[] expected = labels(x, rows, columns);
        assertArrayEquals(
                BilinearResize.part(x, rows, columns)
                        .argMax(2)
                        .toType(DataType.INT32, true)
                        .toIntArray(),
                expected);
        assertArrayEquals(OperatorLibrary.callPortable(() -> labels(x, rows, columns)), expected);
        NDArray zeros = x.zerosLike();
        assertArrayEquals(new int[17 * 17], labels(zeros, rows, columns));
        assertArrayEquals(new int[17 * 17], labels(zeros.add(Float.NaN), rows, columns));
        NDArray invalid = x.duplicate();
        invalid.set(new NDIndex(":, :, 0"), Float.NaN);
        NDArray lowest = x.duplicate();
        lowest.set(new NDIndex(":, :, 0"), -1e30f);
        assertArrayEquals(labels(lowest, rows, columns), labels(invalid, rows, columns));
    }

    /** Returns the labels, written into the middle of a larger map. */
    private int[] labels(NDArray x, BilinearResize.Band rows, BilinearResize.Band columns) {
        NDArray map = manager.zeros(new Shape(23, 19, 2), DataType.UINT8);
        NDArray place = map.get("4:21, 2:19");
        BilinearResize.labels(x, rows, columns, place);
        int[] bytes = place.toType(DataType.INT32, true).toIntArray();
        return IntStream.range(0, 17 * 17)
                .map(i -> bytes[2 * i] + 256 * bytes[2 * i + 1])
                .toArray();
    }

    private static NDArray part(
            BilinearResize resize, NDArray x, int top, int bottom, int left, int right) {
        BilinearResize.Band rows = resize.rows(top, bottom);
        BilinearResize.Band columns = resize.columns(left, right);
        String place =
                rows.first() + ":" + rows.last() + ", " + columns.first() + ":" + columns.last();
        return BilinearResize.part(x.get(place), rows, columns);
    }

    @Test
    void rejectsInvalidRows() {
        BilinearResize resize = new BilinearResize(new Size(2, 2), new Size(4, 4), false);
        assertThrows(IllegalArgumentException.class, () -> resize.rows(2, 5));
        assertThrows(IllegalArgumentException.class, () -> resize.columns(2, 2));
    }
}
