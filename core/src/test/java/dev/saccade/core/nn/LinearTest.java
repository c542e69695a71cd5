package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;

class LinearTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "2 3 5 8, true",
        "2 3 5 8, false",
        "4 7 8, true",
        "6 8, true",
        "8, true",
        "3 8200, true"
    })
    void equalsTheMatrixProductWithGradients(String sizes, boolean bias) {
        long[] shape = Arrays.stream(sizes.split(" ")).mapToLong(Long::parseLong).toArray();
        int in = (int) shape[shape.length - 1];
        WeightInit init = WeightInit.normal(1 / Math.sqrt(in));
        Linear linear = new Linear(in, 12, init, bias ? init : null);
        linear.initialize(manager, 3);
        NDArray w = linear.namedParameters().get("weight").getArray();
        NDArray x = manager.randomNormal(new Shape(shape));
        x.setRequiresGradient(true);
        NDArray y;
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            y = linear.apply(x);
            collector.backward(y.mul(y).sum());
        }
        NDArray rows = x.reshape(-1, in);
        NDArray expected = rows.matMul(w.transpose());
        if (bias) {
            expected = expected.add(linear.namedParameters().get("bias").getArray());
        }
        shape[shape.length - 1] = 12;
        assertEquals(new Shape(shape), y.getShape());
        close(expected.reshape(y.getShape()), y);
        close(expected.mul(2).transpose().matMul(rows), w.getGradient());
        close(expected.mul(2).matMul(w).reshape(x.getShape()), x.getGradient());
        assertEquals(x.size() * 12, MultiplyAdds.count(() -> linear.apply(x)));
    }

    @ParameterizedTest
    @CsvSource({"2 3 5 8, true", "4 7 8, true", "8, true", "2 3 5 8, false"})
    void appliesGeluWithAndWithoutGradients(String sizes, boolean bias) {
        long[] shape = Arrays.stream(sizes.split(" ")).mapToLong(Long::parseLong).toArray();
        WeightInit init = WeightInit.normal(1);
        Linear linear = new Linear(8, 12, init, bias ? init : null);
        linear.initialize(manager, 3);
        NDArray x = manager.randomNormal(new Shape(shape));
        NDArray expected = Functional.gelu(linear.apply(x));
        close(expected, linear.forwardGelu(x));
        linear.train(false);
        linear.fuse();
        close(expected, NoGrad.call(() -> linear.forwardGelu(x)));
        assertEquals(
                x.size() * 12,
                MultiplyAdds.count(() -> NoGrad.run(() -> linear.forwardGelu(x).close())));
    }

    private static void close(NDArray expected, NDArray actual) {
        float deviation = expected.sub(actual).abs().max().getFloat();
        assertTrue(deviation < 1e-4, "deviates by " + deviation);
    }
}
