package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.TreeMap;

class MbConvTest {

    /** Expected values are from an implementation in NumPy with the same parameters. */
    @Test
    void matchesAnIndependentImplementation() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            MbConv block = new MbConv(8, BatchNormType.BN, 0.5);
            block.initialize(manager, 0);
            block.train(false);
            int k = 0;
            for (Map.Entry<String, Parameter> named :
                    new TreeMap<>(block.namedParameters()).entrySet()) {
                Shape shape = named.getValue().getShape();
                String name = named.getKey();
                boolean scales =
                        name.endsWith("running_var")
                                || (name.endsWith("weight") && shape.dimension() == 1);
                NDArray values = wave(manager, shape, 0.4, 0.37, k, scales ? 1 : 0);
                MemoryFormat.copy(values, named.getValue().getArray());
                k++;
            }
            NDArray x = wave(manager, new Shape(1, 3, 4, 8), 1, 0.1, 0, 0);
            NDArray y = NoGrad.call(() -> block.apply(x));
            float[] values = y.toFloatArray();
            assertEquals(20, k);
            assertEquals(new Shape(1, 3, 4, 8), y.getShape());
            assertEquals(0.348393, values[0], 1e-5);
            assertEquals(2.263149, values[values.length - 1], 1e-5);
            assertEquals(1.632306, y.abs().mean().getFloat(), 1e-5);
        }
    }

    private static NDArray wave(
            NDManager manager, Shape shape, double height, double step, int phase, double mean) {
        float[] values = new float[Math.toIntExact(shape.size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (mean + height * Math.sin(step * i + phase));
        }
        return Tensors.of(manager, values, shape);
    }
}
