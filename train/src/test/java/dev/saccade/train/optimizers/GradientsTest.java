package dev.saccade.train.optimizers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.Configs;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Map;

class GradientsTest {

    /** {@code a + b}, with a parameter and a buffer that nobody uses. */
    private static final class Sum extends Layer {

        private final Parameter a = parameter("a", new Shape(2, 3), WeightInit.constant(2));
        private final Parameter b = parameter("b", new Shape(2, 3), WeightInit.constant(5));

        Sum() {
            parameter("unused", new Shape(4), WeightInit.ONES);
            buffer("running_mean", new Shape(4), WeightInit.ZEROS);
        }

        @Override
        protected NDArray forward(NDArray x) {
            return x.mul(a.getArray().add(b.getArray()).transpose());
        }
    }

    private final NDManager manager = NDManager.newBaseManager();
    private final Sum sum = new Sum();

    GradientsTest() {
        sum.initialize(manager, 0);
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private Gradients gradients(NDManager step) {
        NDArray x = step.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(3, 2));
        return Gradients.compute(() -> sum.apply(x).sum(), Gradients.trainable(sum));
    }

    @Test
    void haveTheMemoryFormatOfTheParameterAndSkipUnusedOnes() {
        try (NDManager step = manager.newSubManager()) {
            Map<String, NDArray> arrays = gradients(step).arrays();
            assertEquals("[a, b]", arrays.keySet().toString());
            for (NDArray gradient : arrays.values()) {
                assertArrayEquals(new float[] {1, 3, 5, 2, 4, 6}, gradient.toFloatArray());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void supportChannelsLastConvolutions(String optimizer) {
        Conv2d conv = new Conv2d(new Geometry(3, 4, 3).padding(1), WeightInit.normal(0.1));
        conv.initialize(manager, 0);
        float[] before = conv.namedParameters().get("weight").getArray().toFloatArray();
        Optimizer.Config config =
                optimizer.equals("sgd")
                        ? Configs.of(Sgd.Config.class)
                        : Configs.of(AdamW.Config.class);
        try (NDManager step = manager.newSubManager();
                Optimizer update = config.build(conv)) {
            NDArray x = step.randomNormal(new Shape(2, 3, 9, 7));
            NDArray weights = step.arange(4f).reshape(1, 4, 1, 1);
            Gradients gradients =
                    Gradients.compute(
                            () -> conv.apply(x).mul(weights).sum(), Gradients.trainable(conv));
            float[] gradient = gradients.arrays().get("weight").toFloatArray();
            update.step(gradients, 1, 1);
            float[] after = conv.namedParameters().get("weight").getArray().toFloatArray();
            for (int i = 0; i < before.length; i++) {
                boolean still = i < 27;
                assertEquals(still, gradient[i] == 0, "channel 0 has no gradient");
                if (!still) {
                    assertEquals(
                            Math.signum(gradient[i]),
                            Math.signum(before[i] - after[i]),
                            "weight " + i);
                }
            }
        }
    }

    @Test
    void doNotAccumulate() {
        try (NDManager step = manager.newSubManager()) {
            gradients(step);
            assertEquals(1, gradients(step).arrays().get("a").getFloat(0, 0));
        }
    }

    @Test
    void areClippedByTheirTotalNormEvenIfShared() {
        try (NDManager step = manager.newSubManager()) {
            Gradients gradients = gradients(step);
            Gradients.Norms norms = gradients.norms();
            assertEquals(Math.sqrt(91), norms.byParameter().get("a"), 1e-5);
            assertEquals(Math.sqrt(182), norms.total(), 1e-5);
            assertEquals(2, norms.clipFactor(2) * norms.total(), 1e-5);
            assertEquals(1, norms.clipFactor(100));
        }
    }

    @Test
    void addUp() {
        try (NDManager step = manager.newSubManager()) {
            Gradients gradients = gradients(step);
            Gradients sum = gradients.plus(gradients);
            assertArrayEquals(
                    new float[] {2, 6, 10, 4, 8, 12}, sum.arrays().get("b").toFloatArray());
        }
    }

    @Test
    void areEmptyForAFrozenModule() {
        sum.freeze();
        assertEquals(Map.of(), Gradients.trainable(sum));
    }
}
