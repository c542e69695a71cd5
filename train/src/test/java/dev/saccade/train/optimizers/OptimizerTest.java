package dev.saccade.train.optimizers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;

class OptimizerTest {

    private static final Map<String, ParameterRule> RULES =
            Map.of("norm", new ParameterRule(1, 0), "conv.w", new ParameterRule(0.1, 1));

    /** Weights {@code sin(0.7 i + k)} for the i-th value of the k-th parameter. */
    private static final class Net extends Module {

        private static final Map<String, Shape> SHAPES = new LinkedHashMap<>();

        static {
            SHAPES.put("conv.weight", new Shape(4, 3, 3, 3));
            SHAPES.put("conv.bias", new Shape(4));
            SHAPES.put("norm.weight", new Shape(4));
            SHAPES.put("norm.bias", new Shape(4));
            SHAPES.put("fc.weight", new Shape(5, 4));
            SHAPES.put("late.weight", new Shape(3));
        }

        Net() {
            int k = 0;
            for (Map.Entry<String, Shape> entry : SHAPES.entrySet()) {
                int index = k++;
                WeightInit init =
                        (values, shape, random) -> {
                            for (int i = 0; i < values.length; i++) {
                                values[i] = (float) Math.sin(0.7 * i + index);
                            }
                        };
                parameter(entry.getKey(), entry.getValue(), init);
            }
            buffer("norm.running_mean", new Shape(4), WeightInit.ZEROS);
        }

        @Override
        public NDList call(NDList inputs) {
            return inputs;
        }
    }

    private final NDManager manager = NDManager.newBaseManager();
    private final Net net = new Net();

    OptimizerTest() {
        net.initialize(manager, 0);
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private static Optimizer.Config config(String name) {
        return name.equals("adamw")
                ? new AdamW.Config(0.01, 0.9, 0.999, 1e-8, 0.05, true, RULES)
                : new Sgd.Config(0.01, 0.9, 0.05, true, RULES);
    }

    private Gradients gradients(NDManager step, int t) {
        Map<String, NDArray> arrays = new LinkedHashMap<>();
        int k = 0;
        for (Map.Entry<String, Shape> entry : Net.SHAPES.entrySet()) {
            float[] values = new float[(int) entry.getValue().size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (Math.cos(0.3 * i + k + t) * (1 + t) * 0.1);
            }
            k++;
            if (t >= 3 || !entry.getKey().startsWith("late")) {
                arrays.put(entry.getKey(), step.create(values, entry.getValue()));
            }
        }
        return new Gradients(arrays);
    }

    private static JsonNode expected(String name) throws IOException {
        try (InputStream golden = OptimizerTest.class.getResourceAsStream("pytorch.json")) {
            return new ObjectMapper().readTree(golden).get(name);
        }
    }

    private static void assertClose(JsonNode expected, NDArray actual, String what) {
        float[] values = new float[expected.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) expected.get(i).asDouble();
        }
        assertArrayEquals(values, actual.toFloatArray(), 1e-6f, what);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void takesTheStepsOfPyTorch(String name) throws IOException {
        JsonNode expected = expected(name);
        try (Optimizer optimizer = config(name).build(net)) {
            for (int t = 0; t < 6; t++) {
                try (NDManager step = manager.newSubManager()) {
                    Gradients gradients = gradients(step, t);
                    float norm = gradients.norms().total();
                    assertEquals(expected.get("norms").get(t).floatValue(), norm, 1e-6f * norm);
                    optimizer.step(gradients.clipped(norm, 1), 0.01 * (1 - 0.1 * t));
                }
            }
            Map<String, Parameter> parameters = net.namedParameters();
            expected.get("weights")
                    .properties()
                    .forEach(
                            e ->
                                    assertClose(
                                            e.getValue(),
                                            parameters.get(e.getKey()).getArray(),
                                            e.getKey()));
            Map<String, NDArray> state = optimizer.state();
            assertEquals(expected.get("state").size(), state.size());
            expected.get("state")
                    .properties()
                    .forEach(e -> assertClose(e.getValue(), state.get(e.getKey()), e.getKey()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void leavesNothingBehindButItsState(String name) {
        int before = manager.getManagedArrays().size();
        try (Optimizer optimizer = config(name).build(net)) {
            int state = optimizer.state().size();
            for (int t = 3; t < 6; t++) {
                try (NDManager step = manager.newSubManager()) {
                    optimizer.step(gradients(step, t), 0.01);
                }
            }
            assertEquals(before + state, manager.getManagedArrays().size());
        }
        assertEquals(before, manager.getManagedArrays().size());
    }

    @Test
    void refusesToLearnNothing() {
        net.freeze();
        assertThrows(SaccadeException.class, () -> new Sgd.Config().build(net));
    }
}
