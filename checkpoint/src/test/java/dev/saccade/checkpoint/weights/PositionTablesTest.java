package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.TestFiles;
import dev.saccade.core.conversion.PositionTable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Optional;

/** Compares interpolated tables with {@code torch.nn.functional.interpolate}. */
class PositionTablesTest {

    private static final float EXACT = 5e-6f;

    private static final PositionTable BICUBIC_TABLE = PositionTable.bicubic("{*}.table");
    private static final PositionTable BILINEAR_TABLE = PositionTable.bilinear("{*}.table");

    /** The second of two channels, from 3x3 to 5x5. */
    private static final float[] BICUBIC = {
        2.424f, 6.1f, 10.096f, 8.152f, 5.712f, 2.012f, 5.688f, 9.684f, 7.74f, 5.3f, 1.328f, 5.004f,
        9, 7.056f, 4.616f, 0.644f, 4.32f, 8.316f, 6.372f, 3.932f, 0.232f, 3.908f, 7.904f, 5.96f,
        3.52f
    };

    private static final float[] BILINEAR = {
        3, 5.8f, 10, 7.6f, 6, 2.6f, 5.4f, 9.6f, 7.2f, 5.6f, 2, 4.8f, 9, 6.6f, 5, 1.4f, 4.2f, 8.4f,
        6, 4.4f, 1, 3.8f, 8, 5.6f, 4
    };

    /** Two channels of distinct values. */
    private static Tensor table(Shape shape, int positions, boolean positionsLast) {
        float[] values = new float[2 * positions];
        for (int p = 0; p < positions; p++) {
            for (int c = 0; c < 2; c++) {
                values[positionsLast ? c * positions + p : 2 * p + c] = (7 * p + 3 * c) % 11;
            }
        }
        return Tensor.of(shape, values);
    }

    private static float[] second(Tensor table, boolean positionsLast) {
        float[] values = TestFiles.values(table);
        float[] second = new float[values.length / 2];
        for (int p = 0; p < second.length; p++) {
            second[p] = values[positionsLast ? second.length + p : 2 * p + 1];
        }
        return second;
    }

    private static Tensor fit(PositionTable kind, Tensor table, Shape place, String how) {
        PositionTables.Fitted fitted = PositionTables.fit(kind, table, place).orElseThrow();
        assertEquals(place, fitted.tensor().shape());
        assertEquals(how, fitted.how());
        return fitted.tensor();
    }

    @Test
    void biasesAreInterpolatedBicubically() {
        Tensor table = table(new Shape(9, 2), 9, false);
        Tensor fitted = fit(BICUBIC_TABLE, table, new Shape(25, 2), "bicubic");
        assertArrayEquals(BICUBIC, second(fitted, false), EXACT);
    }

    @Test
    void biasesCanHaveHeadsFirst() {
        Tensor table = table(new Shape(2, 9), 9, true);
        PositionTable kind = BICUBIC_TABLE.withPositionsLast();
        Tensor fitted = fit(kind, table, new Shape(2, 25), "bicubic");
        assertArrayEquals(BICUBIC, second(fitted, true), EXACT);
    }

    @Test
    void biasesAreInterpolatedBilinearly() {
        Tensor table = table(new Shape(2, 9), 9, true);
        PositionTable kind = BILINEAR_TABLE.withPositionsLast();
        Tensor fitted = fit(kind, table, new Shape(2, 25), "bilinear");
        assertArrayEquals(BILINEAR, second(fitted, true), EXACT);
    }

    @Test
    void keepsTheClassToken() {
        Tensor table = table(new Shape(1, 5, 2), 5, false);
        Tensor fitted = fit(BILINEAR_TABLE, table, new Shape(1, 10, 2), "bilinear");
        assertArrayEquals(
                new float[] {3, 10, 8, 6, 6, 6.75f, 7.5f, 2, 5.5f, 9},
                second(fitted, false),
                EXACT);
    }

    @Test
    void embeddingsAreTransposedAndInterpolated() {
        Tensor table = table(new Shape(1, 4, 2), 4, false);
        Tensor same = fit(BICUBIC_TABLE, table, new Shape(1, 2, 2, 2), "transposed");
        assertArrayEquals(new float[] {3, 10, 6, 2}, second(same, true));
        float[] expected = {2.739584f, 10.694448f, 4.5f, 6, 6.260417f, 1.305557f};
        Tensor higher = fit(BICUBIC_TABLE, table, new Shape(1, 2, 3, 2), "bicubic");
        assertArrayEquals(expected, second(higher, true), EXACT);
        Tensor map = fit(BICUBIC_TABLE, same, new Shape(1, 2, 3, 2), "bicubic");
        assertEquals(higher, map);
    }

    @ParameterizedTest
    @CsvSource({
        "false, 9, 2, 25, 3",
        "false, 18, 1, 25, 1",
        "false, 9, 2, 26, 2",
        "true, 2, 9, 3, 9"
    })
    void rejectsDifferencesBeyondTheGrid(boolean last, long a, long b, long c, long d) {
        PositionTable kind = new PositionTable(BICUBIC_TABLE.name(), BICUBIC_TABLE.method(), last);
        Tensor table = TestFiles.ones(new Shape(a, b));
        assertEquals(Optional.empty(), PositionTables.fit(kind, table, new Shape(c, d)));
        Tensor row = TestFiles.ones(new Shape(4));
        assertEquals(Optional.empty(), PositionTables.fit(kind, row, table.shape()));
    }
}
