package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.nn.Linear;
import dev.saccade.core.ops.attention.WindowAttention.Packing;
import dev.saccade.core.ops.attention.Windows.Order;
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

class WindowAttentionTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** An implementation. */
    private interface Form {
        NDArray attend(
                Windows windows, NDArray map, Affine projection, Packing packing, NDArray table);
    }

    private static final Map<String, Form> FORMS =
            Kernels.status().loaded()
                    ? Map.of("portable", WindowAttention::portable, "fused", WindowAttention::fused)
                    : Map.of("portable", WindowAttention::portable);

    /** Adds a bias to a packed map. */
    private record Shift(Optional<NDArray> bias) implements Affine {

        @Override
        public NDArray apply(NDArray x) {
            return bias.map(x::add).orElse(x);
        }
    }

    /** Padded or not, shifted along none, one and both axes, square or not, larger tables. */
    @ParameterizedTest
    @MethodSource
    void equalsTheDefinition(Shape images, Windows windows, int side, int heads, boolean biased) {
        int channels = heads * 5;
        NDArray map = manager.randomNormal(images.add(3L * channels));
        NDArray table = manager.randomNormal(new Shape((2L * side - 1) * (2 * side - 1), heads));
        NDList inputs = new NDList(map, table);
        if (biased) {
            inputs.add(manager.randomNormal(new Shape(3L * channels)));
        }
        inputs.forEach(input -> input.setRequiresGradient(true));
        Packing packing = new Packing(1, 2, 0, Optional.of(0.7));
        NDArray cotangent = manager.randomNormal(images.add(channels));
        float[] expected = looped(windows, inputs, heads, side);
        List<float[]> portable =
                results(inputs, cotangent, windows, packing, WindowAttention::portable);
        FORMS.forEach(
                (name, form) -> {
                    List<float[]> actual = results(inputs, cotangent, windows, packing, form);
                    assertArrayEquals(expected, actual.get(0), 1e-4f, name);
                    for (int i = 1; i < actual.size(); i++) {
                        assertArrayEquals(
                                portable.get(i), actual.get(i), 1e-4f, name + ", result " + i);
                    }
                });
    }

    static List<Arguments> equalsTheDefinition() {
        return List.of(
                arguments(
                        new Shape(2, 14, 7),
                        new Windows(7, 7, 0, 0, Order.PAD_THEN_SHIFT),
                        7,
                        2,
                        true),
                arguments(
                        new Shape(2, 9, 16),
                        new Windows(7, 7, 3, 3, Order.PAD_THEN_SHIFT),
                        7,
                        1,
                        true),
                arguments(
                        new Shape(2, 9, 16),
                        new Windows(7, 7, 3, 3, Order.SHIFT_THEN_PAD),
                        7,
                        1,
                        true),
                arguments(
                        new Shape(2, 5, 6),
                        new Windows(3, 4, 0, 2, Order.SHIFT_THEN_PAD),
                        6,
                        3,
                        true),
                arguments(
                        new Shape(2, 5, 6),
                        new Windows(4, 3, 3, 1, Order.PAD_THEN_SHIFT),
                        4,
                        3,
                        false),
                arguments(
                        new Shape(2, 12, 13),
                        new Windows(12, 12, 6, 6, Order.PAD_THEN_SHIFT),
                        12,
                        2,
                        true),
                arguments(
                        new Shape(2, 2, 1),
                        new Windows(8, 8, 4, 4, Order.PAD_THEN_SHIFT),
                        8,
                        2,
                        true));
    }

    private static List<float[]> results(
            NDList inputs, NDArray cotangent, Windows windows, Packing packing, Form form) {
        Shift projection = new Shift(inputs.stream().skip(2).findFirst());
        List<float[]> results = new ArrayList<>();
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray y = form.attend(windows, inputs.get(0), projection, packing, inputs.get(1));
            results.add(y.toFloatArray());
            collector.backward(y.mul(cotangent).sum());
        }
        for (NDArray input : inputs) {
            results.add(input.getGradient().toFloatArray());
            input.getGradient().muli(0);
        }
        return results;
    }

    /** The definition, pair by pair of tokens; values are packed before queries and keys. */
    private static float[] looped(Windows windows, NDList inputs, int heads, int side) {
        Shape map = inputs.get(0).getShape();
        int h = (int) map.get(1);
        int w = (int) map.get(2);
        int all = (int) map.get(3);
        float[] tokens = inputs.get(0).toFloatArray();
        float[] bias = inputs.size() > 2 ? inputs.get(2).toFloatArray() : new float[all];
        float[] table = inputs.get(1).toFloatArray();
        int area = windows.area();
        int across = (w + windows.width() - 1) / windows.width();
        int down = (h + windows.height() - 1) / windows.height();
        int depth = all / 3 / heads;
        float[] result = new float[tokens.length / 3];
        for (int i = 0; i < map.get(0) * down * across * heads * area; i++) {
            int head = i / area % heads;
            int window = i / area / heads;
            int n = window / (down * across) * h * w;
            int top = window / across % down * windows.height();
            int left = window % across * windows.width();
            int query = i % area;
            int place = place(windows, top, left, query, h, w);
            if (place < 0) {
                continue;
            }
            double total = 0;
            double[] sums = new double[depth];
            for (int key = 0; key < area; key++) {
                int other = place(windows, top, left, key, h, w);
                double logit = 0;
                for (int c = head * depth; c < (head + 1) * depth; c++) {
                    logit +=
                            (tokens[(n + place) * all + all / 3 + c] + bias[all / 3 + c])
                                    * value(tokens, bias, n, other, all, 2 * all / 3 + c);
                }
                int dy = query / windows.width() - key / windows.width() + side - 1;
                int dx = query % windows.width() - key % windows.width() + side - 1;
                logit = 0.7 * logit + table[(dy * (2 * side - 1) + dx) * heads + head];
                boolean apart =
                        region(windows, top, left, query, down, across)
                                != region(windows, top, left, key, down, across);
                double weight = Math.exp(apart ? logit - 100 : logit);
                total += weight;
                for (int c = 0; c < depth; c++) {
                    sums[c] += weight * value(tokens, bias, n, other, all, head * depth + c);
                }
            }
            for (int c = 0; c < depth; c++) {
                result[(n + place) * all / 3 + head * depth + c] = (float) (sums[c] / total);
            }
        }
        return result;
    }

    private static double value(float[] tokens, float[] bias, int n, int place, int all, int c) {
        return (place < 0 ? 0 : tokens[(n + place) * all + c]) + bias[c];
    }

    /** Returns the position of a window's token in the map; -1 for padding. */
    private static int place(Windows windows, int top, int left, int token, int h, int w) {
        int y = top + token / windows.width();
        int x = left + token % windows.width();
        if (windows.order() == Order.PAD_THEN_SHIFT) {
            int padded = (h + windows.height() - 1) / windows.height() * windows.height();
            y = (y + windows.shiftY()) % padded;
            padded = (w + windows.width() - 1) / windows.width() * windows.width();
            x = (x + windows.shiftX()) % padded;
            return y < h && x < w ? y * w + x : -1;
        }
        return y < h && x < w ? (y + windows.shiftY()) % h * w + (x + windows.shiftX()) % w : -1;
    }

    /** Returns the region of a token after the cyclic shift, from 0 to 3. */
    private static int region(Windows windows, int top, int left, int token, int down, int across) {
        int y = top + token / windows.width();
        int x = left + token % windows.width();
        return (y >= down * windows.height() - windows.shiftY() ? 2 : 0)
                + (x >= across * windows.width() - windows.shiftX() ? 1 : 0);
    }

    /** Padding counts in both projections. */
    @Test
    void countsItsMultiplyAdds() {
        Linear qkv = new Linear(4, 24);
        qkv.initialize(manager, 0);
        NDArray map = manager.ones(new Shape(2, 4, 7, 4));
        NDArray table = manager.zeros(new Shape(25, 2));
        Packing packing = new Packing(0, 1, 2, Optional.empty());
        long tokens = 2 * 6 * 9;
        long padding = tokens - 2 * 4 * 7;
        FORMS.values()
                .forEach(
                        form ->
                                assertEquals(
                                        tokens * 4 * 24 + 2 * tokens * 8 * 9 + padding * 8 * 8,
                                        MultiplyAdds.count(
                                                () ->
                                                        form.attend(
                                                                new Windows(3, 1),
                                                                map,
                                                                qkv,
                                                                packing,
                                                                table))));
    }

    @Test
    void supportsFloat64() {
        NDArray map = manager.randomNormal(new Shape(1, 6, 6, 24)).toType(DataType.FLOAT64, true);
        NDArray table = manager.randomNormal(new Shape(25, 2)).toType(DataType.FLOAT64, true);
        Shift identity = new Shift(Optional.empty());
        Packing packing = new Packing(0, 1, 2, Optional.empty());
        NDArray expected =
                WindowAttention.portable(new Windows(3, 1), map, identity, packing, table);
        FORMS.values()
                .forEach(
                        form ->
                                assertArrayEquals(
                                        expected.toDoubleArray(),
                                        form.attend(
                                                        new Windows(3, 1),
                                                        map,
                                                        identity,
                                                        packing,
                                                        table)
                                                .toDoubleArray(),
                                        1e-12));
    }
}
