package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

class ElsaAttentionTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Weights outside the map are lost. */
    @Test
    void averagesInsideTheMap() {
        NDArray y =
                new ElsaAttention(3, 1, 0, 0)
                        .attend(
                                manager.ones(new Shape(1, 3, 3, 1)),
                                manager.zeros(new Shape(1, 3, 3, 9)),
                                Optional.empty());
        float corner = 4 / 9f;
        float edge = 6 / 9f;
        assertArrayEquals(
                new float[] {corner, edge, corner, edge, 1, edge, corner, edge, corner},
                y.toFloatArray(),
                1e-6f);
    }

    @Test
    void addsStaticFilters() {
        NDArray y =
                new ElsaAttention(3, 1, 0, 1)
                        .aggregate(
                                manager.ones(new Shape(1, 3, 3, 1)),
                                manager.zeros(new Shape(1, 3, 3, 9)),
                                Optional.of(manager.arange(1f, 10f).reshape(1, 1, 3, 3)));
        assertEquals(28, y.getFloat(0, 0, 0, 0));
        assertEquals(45, y.getFloat(0, 1, 1, 0));
    }

    /**
     * Rows shorter than a tile, multiples of a tile and others; one and two images; one and several
     * groups.
     */
    @ParameterizedTest
    @MethodSource
    void equalsTheDefinitionWithGradients(ElsaAttention attention, int groups, Shape map) {
        long taps = (long) attention.kernel() * attention.kernel();
        NDList inputs =
                new NDList(
                        manager.randomNormal(map.add(6)),
                        manager.randomNormal(map.add(groups * taps)));
        attention.ghostHead(6).map(manager::randomNormal).ifPresent(inputs::add);
        inputs.forEach(input -> input.setRequiresGradient(true));
        NDArray cotangent = manager.randomNormal(map.add(6));
        List<float[]> expected = results(inputs, cotangent, in -> looped(attention, in, groups));
        FORMS.forEach(
                (name, form) -> {
                    List<float[]> actual =
                            results(
                                    inputs,
                                    cotangent,
                                    in ->
                                            form.attend(
                                                    attention,
                                                    in.get(0),
                                                    in.get(1),
                                                    in.stream().skip(2).findFirst()));
                    for (int i = 0; i < expected.size(); i++) {
                        assertArrayEquals(
                                expected.get(i), actual.get(i), 1e-4f, name + ", result " + i);
                    }
                });
    }

    static List<Arguments> equalsTheDefinitionWithGradients() {
        return List.of(
                arguments(new ElsaAttention(7, 1, 0, 1), 3, new Shape(2, 5, 9)),
                arguments(new ElsaAttention(7, 1, 1, 1), 1, new Shape(2, 8, 7)),
                arguments(new ElsaAttention(5, 2, 0, 0.5), 2, new Shape(2, 6, 16)),
                arguments(new ElsaAttention(5, 2, 2, 0), 2, new Shape(2, 4, 3)),
                arguments(new ElsaAttention(3, 9, 0, 1), 1, new Shape(2, 11, 21)),
                arguments(new ElsaAttention(3, 2, 1, 0.5), 3, new Shape(2, 2, 8)),
                arguments(new ElsaAttention(1, 1, 1, 1), 2, new Shape(2, 3, 4)),
                arguments(new ElsaAttention(9, 1, 0, 0), 2, new Shape(2, 1, 14)));
    }

    /** An implementation. */
    private interface Form {
        NDArray attend(
                ElsaAttention attention, NDArray values, NDArray logits, Optional<NDArray> ghost);
    }

    private static final Map<String, Form> FORMS =
            Kernels.status().loaded()
                    ? Map.of("portable", ElsaAttention::portable, "fused", ElsaAttention::fused)
                    : Map.of("portable", ElsaAttention::portable);

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

    /** The definition, offset by offset. */
    private static NDArray looped(ElsaAttention attention, NDList inputs, int groups) {
        Shape map = inputs.get(0).getShape();
        long side = attention.kernel();
        long reach = side / 2 * attention.dilation();
        NDArray padded = inputs.get(0).pad(new Shape(0, 0, reach, reach, reach, reach), 0);
        NDArray weights =
                inputs.get(1).reshape(2, map.get(1), map.get(2), groups, side * side).softmax(-1);
        NDArray y = inputs.getManager().zeros(map);
        for (long o = 0; o < side * side; o++) {
            long top = o / side * attention.dilation();
            long left = o % side * attention.dilation();
            NDArray near =
                    padded.get(":, {}:{}, {}:{}", top, top + map.get(1), left, left + map.get(2));
            NDArray filter = weights.get("..., {}", o).repeat(3, map.get(3) / groups);
            if (attention.lambda() != 0) {
                NDArray lambda = Tensors.of(y.getManager(), (float) attention.lambda());
                filter = filter.mul(ghost(inputs, "0", o).pow(lambda));
            }
            if (attention.gamma() != 0) {
                NDArray gamma = Tensors.of(y.getManager(), (float) attention.gamma());
                filter = filter.add(ghost(inputs, "-1", o).mul(gamma));
            }
            y = y.add(near.mul(filter));
        }
        return y;
    }

    private static NDArray ghost(NDList inputs, String part, long offset) {
        NDArray head = inputs.get(2);
        Shape flat = new Shape(head.getShape().dimension() == 5 ? 2 : 1, 6, -1);
        return head.reshape(flat).get(part + ", :, {}", offset);
    }

    @Test
    void countsItsMultiplyAdds() {
        NDArray values = manager.ones(new Shape(1, 4, 4, 8));
        NDArray logits = manager.ones(new Shape(1, 4, 4, 18));
        NDArray ghost = manager.ones(new Shape(1, 8, 3, 3));
        ElsaAttention attention = new ElsaAttention(3, 1, 0, 1);
        FORMS.values()
                .forEach(
                        form ->
                                assertEquals(
                                        2L * 9 * 16 * 8,
                                        MultiplyAdds.count(
                                                () ->
                                                        form.attend(
                                                                attention,
                                                                values,
                                                                logits,
                                                                Optional.of(ghost)))));
    }

    @Test
    void rejectsInvalidSettings() {
        Exception e =
                assertThrows(IllegalArgumentException.class, () -> new ElsaAttention(4, 1, 0, 1));
        assertEquals("kernel: got 4, expected odd", e.getMessage());
    }
}
