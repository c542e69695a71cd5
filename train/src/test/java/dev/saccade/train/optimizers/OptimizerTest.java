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
import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;

class OptimizerTest {

    private static final String RULES =
            "rules={norm: {weight_decay_factor: 0}, conv.w: {learning_rate_factor: 0.1}}";

    private static final Map<String, Shape> SHAPES =
            ImmutableMap.of(
                    "conv.weight", new Shape(4, 3, 3, 3),
                    "conv.bias", new Shape(4),
                    "norm.weight", new Shape(4),
                    "norm.bias", new Shape(4),
                    "fc.weight", new Shape(5, 4),
                    "late.weight", new Shape(3));

    /** Weights {@code sin(0.7 i + k)} for the i-th value of the k-th parameter of the net. */
    private static final class Part extends Module {

        Part(int k, Shape weight) {
            parameter("weight", weight, sines(k));
        }

        Part(int k, Shape weight, Shape bias) {
            this(k, weight);
            parameter("bias", bias, sines(k + 1));
            buffer("running_mean", bias, WeightInit.ZEROS);
        }

        private static WeightInit sines(int k) {
            return (values, shape, random) -> {
                for (int i = 0; i < values.length; i++) {
                    values[i] = (float) Math.sin(0.7 * i + k);
                }
            };
        }

        @Override
        public NDList call(NDList inputs) {
            return inputs;
        }
    }

    private static final class Net extends Module {

        Net() {
            add("conv", new Part(0, SHAPES.get("conv.weight"), SHAPES.get("conv.bias")));
            add("norm", new Part(2, SHAPES.get("norm.weight"), SHAPES.get("norm.bias")));
            add("fc", new Part(4, SHAPES.get("fc.weight")));
            add("late", new Part(5, SHAPES.get("late.weight")));
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
                ? Configs.of(AdamW.Config.class, "learning_rate=0.01", RULES)
                : Configs.of(Sgd.Config.class, "learning_rate=0.01", "weight_decay=0.05", RULES);
    }

    private Gradients gradients(NDManager step, int t) {
        Map<String, NDArray> arrays = new LinkedHashMap<>();
        int k = 0;
        for (Map.Entry<String, Shape> entry : SHAPES.entrySet()) {
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
    void equalsPyTorch(String name) throws IOException {
        JsonNode expected = expected(name);
        try (Optimizer optimizer = config(name).build(net)) {
            for (int t = 0; t < 6; t++) {
                try (NDManager step = manager.newSubManager()) {
                    Gradients gradients = gradients(step, t);
                    Gradients.Norms norms = gradients.norms();
                    float norm = norms.total();
                    assertEquals(expected.get("norms").get(t).floatValue(), norm, 1e-6f * norm);
                    optimizer.step(gradients, norms.clipFactor(1), 0.01 * (1 - 0.1 * t));
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

    @Test
    void lambLimitsTheNormOfAllGroupsTogether() {
        Lamb.Config limited =
                Configs.of(Lamb.Config.class, "max_grad_norm=0.5", "weight_decay=0.1", RULES);
        Lamb.Config unlimited =
                Configs.of(Lamb.Config.class, "max_grad_norm=0", "weight_decay=0.1", RULES);
        Net other = new Net();
        other.initialize(manager, 0);
        try (Optimizer first = limited.build(net);
                Optimizer second = unlimited.build(other)) {
            for (int t = 0; t < 4; t++) {
                Gradients gradients = gradients(manager, t);
                first.step(gradients, 2, 0.01);
                float norm = 2 * gradients.norms().total();
                second.step(gradients, 2 * Math.min(1, 0.5f / norm), 0.01);
            }
        }
        net.namedParameters()
                .forEach(
                        (name, parameter) ->
                                assertArrayEquals(
                                        other.namedParameters().get(name).getArray().toFloatArray(),
                                        parameter.getArray().toFloatArray(),
                                        1e-6f,
                                        name));
    }

    @Test
    void lambScalesUpdatesToTheNormOfWeightsWithDecay() {
        float[] norm = net.namedParameters().get("norm.weight").getArray().toFloatArray();
        NDArray fc = net.namedParameters().get("fc.weight").getArray();
        NDArray before = fc.duplicate();
        Lamb.Config config = Configs.of(Lamb.Config.class, "weight_decay=0.1", RULES);
        try (Optimizer optimizer = config.build(net)) {
            optimizer.step(gradients(manager, 3), 1, 0.01);
            assertEquals(3 * SHAPES.size(), optimizer.state().size());
        }
        float change = fc.sub(before).norm().getFloat();
        assertEquals(0.01f * before.norm().getFloat(), change, 1e-5f);
        float[] after = net.namedParameters().get("norm.weight").getArray().toFloatArray();
        for (int i = 0; i < norm.length; i++) {
            assertEquals(0.01f, Math.abs(after[i] - norm[i]), 1e-4f);
        }
    }

    @Test
    void sgdWorksWithoutMomentum() {
        Sgd.Config plain =
                Configs.bind(
                        ConfigFile.parse("{momentum: 0, weight_decay: 0}", "plain.yaml"),
                        Sgd.Config.class);
        NDArray weight = net.namedParameters().get("late.weight").getArray();
        float[] expected = weight.add(-0.5).toFloatArray();
        try (Optimizer optimizer = plain.build(net)) {
            optimizer.step(new Gradients(Map.of("late.weight", weight.onesLike())), 1, 0.5);
            assertEquals(Map.of(), optimizer.state());
        }
        assertArrayEquals(expected, weight.toFloatArray(), 1e-6f);
    }

    /** Weights, state and averages after steps with clipped gradients, in groups of own rates. */
    private Map<String, float[]> afterSteps() {
        return afterSteps(
                (optimizer, ema, t, gradients) ->
                        optimizer.step(
                                gradients, gradients.norms().clipFactor(1), 0.01, ema.update(t)));
    }

    private interface Step {
        void take(Optimizer optimizer, ModelEma ema, int t, Gradients gradients);
    }

    private Map<String, float[]> afterSteps(Step step) {
        Net fresh = new Net();
        fresh.initialize(manager, 0);
        Map<String, float[]> values = new LinkedHashMap<>();
        ModelEma ema =
                Configs.of(ModelEma.Config.class, "decay=0.7", "warmup=1", "update_buffers=true")
                        .build(fresh);
        try (Optimizer optimizer = config("adamw").build(fresh)) {
            for (int t = 0; t < 6; t++) {
                try (NDManager scratch = manager.newSubManager()) {
                    step.take(optimizer, ema, t, gradients(scratch, t));
                    fresh.namedParameters().get("norm.running_mean").getArray().addi(t);
                }
            }
            ema.averages().forEach((name, x) -> values.put("ema." + name, x.toFloatArray()));
            fresh.namedParameters()
                    .forEach((name, p) -> values.put(name, p.getArray().toFloatArray()));
            optimizer.state().forEach((name, array) -> values.put(name, array.toFloatArray()));
        }
        return values;
    }

    @Test
    void fusedStepsDifferFromPortableOnesByRoundingOnly() {
        Map<String, float[]> fused = afterSteps();
        OperatorLibrary.callPortable(this::afterSteps)
                .forEach((name, values) -> assertArrayEquals(values, fused.get(name), 2e-7f, name));
    }

    @Test
    void updatesAveragesInTheSamePass() {
        Map<String, float[]> inOnePass = afterSteps();
        Map<String, float[]> apart =
                afterSteps(
                        (optimizer, ema, t, gradients) -> {
                            optimizer.step(gradients, gradients.norms().clipFactor(1), 0.01);
                            ema.update(t).apply();
                        });
        assertEquals(apart.keySet(), inOnePass.keySet());
        apart.forEach((name, x) -> assertArrayEquals(x, inOnePass.get(name), 2e-7f, name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void keepsOnlyItsState(String name) {
        ModelEma ema = Configs.of(ModelEma.Config.class).build(net);
        int before = manager.getManagedArrays().size();
        try (Optimizer optimizer = config(name).build(net)) {
            int state = optimizer.state().size();
            for (int t = 3; t < 6; t++) {
                try (NDManager step = manager.newSubManager()) {
                    optimizer.step(gradients(step, t), 1, 0.01, ema.update(t));
                    ema.swap();
                    ema.swap();
                }
            }
            assertEquals(before + state, manager.getManagedArrays().size());
        }
        assertEquals(before, manager.getManagedArrays().size());
    }

    @Test
    void rejectsAFrozenModel() {
        net.freeze();
        assertThrows(SaccadeException.class, () -> Configs.of(Sgd.Config.class).build(net));
    }
}
