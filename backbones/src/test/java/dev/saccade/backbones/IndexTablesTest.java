package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Compares index tables with the official Python classes. */
class IndexTablesTest {

    private static Map<String, Tensor> beside(String name, Shape shape) {
        return beside(Map.of(name, shape));
    }

    private static Map<String, Tensor> beside(Map<String, Shape> shapes) {
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(
                        Naming.of("official").fromSaccade(Stored.ofOnes(shapes)).tensors());
        tensors.keySet().removeAll(shapes.keySet());
        return tensors;
    }

    private static long[] values(Tensor tensor) {
        long[] values = new long[(int) tensor.elements()];
        tensor.data().asLongBuffer().get(values);
        return values;
    }

    @Test
    void swinIndexesByQueryMinusKey() {
        Tensor index =
                beside("a.relative_position_bias_table", new Shape(169, 3))
                        .get("a.relative_position_index");

        assertEquals(new Shape(49, 49), index.shape());
        assertEquals(ElementType.INT64, index.type());
        long[] values = values(index);
        assertEquals(
                List.of(84L, 83L, 71L, 0L, 168L),
                List.of(values[0], values[1], values[7], values[48], values[48 * 49]));
    }

    @Test
    void elsaIndexesByKeyMinusQuery() {
        Tensor index = beside("a.rb", new Shape(3, 169)).get("a.relative_id");

        assertEquals(new Shape(2401), index.shape());
        assertEquals(168, values(index)[48]);
        assertEquals(85, values(index)[1]);
    }

    @Test
    void focalHasTablesForLevelsAndNeighbors() {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        String biases = "a.relative_position_bias_table";
        shapes.put(biases, new Shape(169, 3));
        shapes.put(biases + "_to_neighbors", new Shape(1, 3, 49, 132));
        shapes.put(biases + "_to_windows.0", new Shape(3, 169));
        shapes.put(biases + "_to_windows.1", new Shape(3, 196));

        Map<String, Tensor> tables = beside(shapes);

        assertEquals(
                List.of(
                        "a.relative_position_index",
                        "a.valid_ind_rolled",
                        "a.relative_position_index_0",
                        "a.relative_position_index_1",
                        "a.valid_ind_unfold_1"),
                List.copyOf(tables.keySet()));
        long[] level0 = values(tables.get("a.relative_position_index_0"));
        assertEquals(List.of(84L, 168L), List.of(level0[0], level0[48 * 49]));
        Tensor level1 = tables.get("a.relative_position_index_1");
        assertEquals(new Shape(49, 64), level1.shape());
        assertEquals(List.of(105L, 104L), List.of(values(level1)[0], values(level1)[1]));
        long[] rolled = values(tables.get("a.valid_ind_rolled"));
        assertEquals(132, rolled.length);
        assertArrayEquals(new long[] {4, 5, 6, 11}, Arrays.copyOf(rolled, 4));
        assertEquals(List.of(49L, 98L, 147L), List.of(rolled[33], rolled[66], rolled[99]));
        long[] unfolded = values(tables.get("a.valid_ind_unfold_1"));
        assertEquals(64, unfolded.length);
        assertEquals(List.of(10L, 19L, 80L), List.of(unfolded[0], unfolded[8], unfolded[63]));
    }
}
