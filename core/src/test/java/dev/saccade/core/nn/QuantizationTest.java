package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class QuantizationTest {

    private static final WeightInit RANDOM = WeightInit.uniform(0.3);

    private static Sequential model(NDManager manager) {
        Sequential model =
                new Sequential()
                        .append("stem", ConvModule.relu(new Geometry(3, 32, 3).stride(2), RANDOM))
                        .append("wide", ConvModule.relu(new Geometry(32, 32, 3).padding(1), RANDOM))
                        .append("point", ConvModule.relu(new Geometry(32, 48, 1), RANDOM))
                        .append(
                                "groups",
                                ConvModule.relu(new Geometry(48, 48, 3).groups(3), RANDOM))
                        .append("output", new Conv2d(new Geometry(48, 20, 1), RANDOM))
                        .append("wide_output", new Conv2d(new Geometry(20, 20, 3), RANDOM));
        model.initialize(manager, 0);
        model.train(false);
        model.fuse();
        return model;
    }

    @Test
    void listsDenseLayersAndWideOutputLayers() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            assertEquals(
                    List.of("wide.conv", "point.conv", "wide_output"),
                    Quantization.layers(model(manager)));
        }
    }

    @Test
    void measuresErrorsWithoutChangingResults() {
        assumeTrue(Quantization.isFast(), "the processor lacks the products");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Sequential model = model(manager);
            NDArray x = manager.randomNormal(0, 1, new Shape(1, 3, 64, 32), DataType.FLOAT32);
            float[] expected = NoGrad.call(() -> model.apply(x)).toFloatArray();
            float[][] found = new float[1][];
            Map<String, Double> errors =
                    Quantization.errors(
                            () -> found[0] = NoGrad.call(() -> model.apply(x)).toFloatArray());
            assertArrayEquals(expected, found[0]);
            assertEquals(Quantization.layers(model), List.copyOf(errors.keySet()));
            errors.forEach((layer, error) -> assertTrue(error > 1e-4 && error < 0.03, layer));
        }
    }

    @Test
    void rejectsUnknownLayers() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            SaccadeException e =
                    assertThrows(
                            SaccadeException.class,
                            () -> Quantization.apply(model(manager), List.of("output", "none")));
            assertTrue(e.getMessage().contains("[output, none]"), e.getMessage());
        }
    }
}
