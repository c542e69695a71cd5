package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import org.junit.jupiter.api.Test;

import java.util.List;

class GraphTest {

    @Test
    void weightNamesAreUnique() {
        Tensor one = Tensor.of(new Shape(1), 1);
        ImmutableMap.Builder<Value, Weight> weights = ImmutableMap.builder();
        for (String name : List.of("a.b_c", "a.b.c", "a_b_c_2", "head.weight", "head.weight")) {
            int id = weights.build().size();
            weights.put(Value.of(id, "Float", one.shape()), new Weight(name, one));
        }
        Graph graph =
                new Graph(
                        ImmutableList.of(),
                        weights.buildOrThrow(),
                        ImmutableList.of(),
                        ImmutableList.of());
        assertEquals(
                List.of("a_b_c", "a_b_c_2", "a_b_c_2_2", "head_weight", "head_weight_2"),
                List.copyOf(graph.weightNames().values()));
    }
}
