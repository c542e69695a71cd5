package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Optional;

/** Interpolated tables against those of {@code torch.nn.functional.interpolate}. */
class PositionTablesTest {

    private static final float EXACT = 5e-6f;

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

    /** Two channels of {@code positions} values that look alike nowhere. */
    private static Tensor table(Shape shape, int positions, boolean positionsLast) {
        float[] values = new float[2 * positions];
        for (int p = 0; p < positions; p++) {
            for (int c = 0; c < 2; c++) {
                values[positionsLast ? c * positions + p : 2 * p + c] = (7 * p + 3 * c) % 11;
            }
        }
        return TestFiles.tensor(shape, values);
    }

    private static float[] second(Tensor table, boolean positionsLast) {
        float[] values = TestFiles.values(table);
        float[] second = new float[values.length / 2];
        for (int p = 0; p < second.length; p++) {
            second[p] = values[positionsLast ? second.length + p : 2 * p + 1];
        }
        return second;
    }

    private static Tensor fit(String name, Tensor table, Shape place, String how) {
        PositionTables.Fitted fitted = PositionTables.fit(name, table, place).orElseThrow();
        assertEquals(place, fitted.tensor().shape());
        assertEquals(how, fitted.how());
        return fitted.tensor();
    }

    @Test
    void biasesOfSwinAreBicubic() {
        Tensor table = table(new Shape(9, 2), 9, false);
        String name = "layers.0.blocks.0.attn.relative_position_bias_table";
        Tensor fitted = fit(name, table, new Shape(25, 2), "bicubic");
        assertArrayEquals(BICUBIC, second(fitted, false), EXACT);
    }

    @Test
    void biasesOfElsaAreBicubicAndBeginWithTheHeads() {
        Tensor table = table(new Shape(2, 9), 9, true);
        Tensor fitted = fit("layers.3.blocks.0.attn.rb", table, new Shape(2, 25), "bicubic");
        assertArrayEquals(BICUBIC, second(fitted, true), EXACT);
    }

    @Test
    void biasesOfPooledWindowsOfFocalTransformerAreBilinear() {
        Tensor table = table(new Shape(2, 9), 9, true);
        String name = "layers.1.blocks.0.attn.relative_position_bias_table_to_windows.0";
        Tensor fitted = fit(name, table, new Shape(2, 25), "bilinear");
        assertArrayEquals(BILINEAR, second(fitted, true), EXACT);
    }

    @Test
    void embeddingsOfPvtAreBilinearAndKeepTheClassTokensApart() {
        Tensor fitted =
                fit(
                        "pos_embed4",
                        table(new Shape(1, 5, 2), 5, false),
                        new Shape(1, 10, 2),
                        "bilinear");
        assertArrayEquals(
                new float[] {3, 10, 8, 6, 6, 6.75f, 7.5f, 2, 5.5f, 9},
                second(fitted, false),
                EXACT);
    }

    @Test
    void embeddingsOfSwinAreLaidOutAndWhereNeededBicubic() {
        Tensor table = table(new Shape(1, 4, 2), 4, false);
        Tensor same = fit("absolute_pos_embed", table, new Shape(1, 2, 2, 2), "laid out anew");
        assertArrayEquals(new float[] {3, 10, 6, 2}, second(same, true));
        float[] expected = {2.739584f, 10.694448f, 4.5f, 6, 6.260417f, 1.305557f};
        Tensor higher = fit("absolute_pos_embed", table, new Shape(1, 2, 3, 2), "bicubic");
        assertArrayEquals(expected, second(higher, true), EXACT);
        Tensor map = fit("absolute_pos_embed", same, new Shape(1, 2, 3, 2), "bicubic");
        assertEquals(higher, map);
    }

    @ParameterizedTest
    @CsvSource({
        "relative_position_bias_table, 9, 2, 25, 3",
        "relative_position_bias_table, 18, 1, 25, 1",
        "relative_position_bias_table, 9, 2, 26, 2",
        "a_relative_position_bias_table, 9, 2, 25, 2",
        "relative_position_bias_table_to_neighbors, 9, 2, 25, 2",
        "relative_position_bias_table.weight, 9, 2, 25, 2",
        "carb, 2, 9, 2, 25"
    })
    void whatDiffersInMoreThanTheGridDoesNotFit(String name, long p, long c, long q, long d) {
        Tensor table = TestFiles.ones(new Shape(p, c));
        assertEquals(Optional.empty(), PositionTables.fit(name, table, new Shape(q, d)));
        assertTrue(PositionTables.fit("rb", TestFiles.ones(new Shape(4)), table.shape()).isEmpty());
    }
}
