package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void everyBandIsThatOfTheWhole(int h, int w, int height, int width, int classes) {
        NDArray x = manager.randomNormal(0, 1, new Shape(1, classes, h, w), DataType.FLOAT32);
        NDArray like = manager.zeros(new Shape(1, 1, height, width));
        NDArray tokens = x.transpose(0, 2, 3, 1).get(0).duplicate();
        for (boolean alignCorners : new boolean[] {false, true}) {
            float[] whole =
                    Interpolation.toSizeOf(like, x, alignCorners)
                            .transpose(0, 2, 3, 1)
                            .toFloatArray();
            BilinearResize resize =
                    new BilinearResize(new Size(h, w), new Size(height, width), alignCorners);
            NDArray wide = resize.columns(tokens);
            for (int rows : new int[] {1, 3, height}) {
                for (int top = 0; top < height; top += rows) {
                    int bottom = Math.min(top + rows, height);
                    BilinearResize.Band band = resize.band(top, bottom);
                    NDArray made = resize.rows(wide.get(band.first() + ":" + band.last()), band);
                    float[] expected = new float[(bottom - top) * width * classes];
                    System.arraycopy(whole, top * width * classes, expected, 0, expected.length);
                    assertArrayEquals(expected, made.toFloatArray(), 1e-6f);
                }
            }
        }
    }

    @Test
    void refusesRowsThatAreNotThere() {
        BilinearResize resize = new BilinearResize(new Size(2, 2), new Size(4, 4), false);
        assertThrows(IllegalArgumentException.class, () -> resize.band(2, 5));
        assertThrows(IllegalArgumentException.class, () -> resize.band(2, 2));
    }
}
