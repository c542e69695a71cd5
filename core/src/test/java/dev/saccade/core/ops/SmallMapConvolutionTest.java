package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Tape;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

class SmallMapConvolutionTest {

    private static final Shape LARGE = new Shape(512, 256, 3, 3);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({"2, 3, 1, 1, false", "3, 2, 2, 1, true", "5, 4, 2, 0, true", "1, 1, 1, 1, false"})
    void equalsConvolutionInDouble(
            int height, int width, int stride, int padding, boolean hasBias) {
        NDArray x = random(new Shape(3, 256, height, width + 2));
        NDArray weight = random(new Shape(512, 256, 3, 3));
        NDArray bias = hasBias ? random(new Shape(512)) : null;
        Shape result = Functional.conv2dShape(x.getShape(), weight.getShape(), stride, padding, 1);
        try (Tape tape = Autograd.record(List.of(weight))) {
            assertNotNull(tape);
            assertTrue(SmallMapConvolution.isFaster(x, weight.getShape(), result, 1, 1));
        }
        NDArray factors = random(result);
        NDList expected = results(x, weight, bias, factors, DataType.FLOAT64, stride, padding);
        NDList found = results(x, weight, bias, factors, DataType.FLOAT32, stride, padding);
        assertEquals(expected.size(), found.size());
        for (int i = 0; i < found.size(); i++) {
            assertEquals(expected.get(i).getShape(), found.get(i).getShape());
            assertArrayEquals(values(expected.get(i)), values(found.get(i)), 2e-3);
        }
    }

    private NDArray random(Shape shape) {
        return manager.randomNormal(shape);
    }

    /** Returns the map and the gradients of the inputs. */
    private static NDList results(
            NDArray x,
            NDArray weight,
            NDArray bias,
            NDArray factors,
            DataType type,
            int stride,
            int padding) {
        NDList inputs = new NDList(x.toType(type, true), weight.toType(type, true));
        if (bias != null) {
            inputs.add(bias.toType(type, true));
        }
        inputs.forEach(input -> input.setRequiresGradient(true));
        NDArray typedFactors = factors.toType(type, true);
        NDList results =
                Autograd.gradients(
                        () -> convolve(inputs, stride, padding).mul(typedFactors).sum(), inputs);
        results.add(convolve(inputs, stride, padding));
        return results;
    }

    private static NDArray convolve(NDList inputs, int stride, int padding) {
        NDArray bias = inputs.size() > 2 ? inputs.get(2) : null;
        return Functional.conv2d(inputs.get(0), inputs.get(1), bias, stride, padding, 1, 1);
    }

    private static double[] values(NDArray array) {
        return array.toType(DataType.FLOAT64, true).toDoubleArray();
    }

    @Test
    void isForLargeWeightsAndSmallMapsInTraining() {
        NDArray x = manager.zeros(new Shape(1, 256, 4, 4));
        Shape map = new Shape(1, 512, 4, 4);
        assertFalse(NoGrad.call(() -> SmallMapConvolution.isFaster(x, LARGE, map, 1, 1)));
        try (Tape tape = Autograd.record(List.of(x))) {
            assertNotNull(tape);
            assertTrue(SmallMapConvolution.isFaster(x, LARGE, map, 1, 1));
            assertFalse(SmallMapConvolution.isFaster(x, LARGE, new Shape(1, 512, 4, 5), 1, 1));
            assertFalse(SmallMapConvolution.isFaster(x, new Shape(256, 256, 3, 3), map, 1, 1));
            assertFalse(SmallMapConvolution.isFaster(x, new Shape(512, 256, 5, 3), map, 1, 1));
            assertFalse(SmallMapConvolution.isFaster(x, LARGE, map, 2, 1));
            assertFalse(SmallMapConvolution.isFaster(x, LARGE, map, 1, 2));
        }
    }
}
