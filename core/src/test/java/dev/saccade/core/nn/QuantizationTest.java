package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.util.stream.Collectors.toMap;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
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
    void quantizesLinearLayers() {
        assumeTrue(Quantization.isFast(), "the processor lacks the products");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Sequential model =
                    new Sequential()
                            .append("mlp", new Mlp(32, 70))
                            .append("narrow", new Linear(32, 8))
                            .append("output", new Linear(8, 20, RANDOM, RANDOM).asOutput());
            model.initialize(manager, 0);
            model.train(false);
            model.fuse();
            List<String> layers = List.of("mlp.fc1", "mlp.fc2");
            assertEquals(layers, Quantization.layers(model));
            NDArray x = manager.randomNormal(0, 3, new Shape(2, 5, 9, 32), DataType.FLOAT32);
            NDArray expected = NoGrad.call(() -> model.apply(x));
            Map<String, Double> errors =
                    Quantization.errors(() -> NoGrad.run(() -> model.apply(x).close()));
            assertEquals(layers, List.copyOf(errors.keySet()));
            errors.forEach((layer, error) -> assertTrue(error > 1e-4 && error < 0.03, layer));
            Quantization.apply(model, layers);
            Map<String, String> products =
                    LayerProfile.of(() -> model.apply(x)).stream()
                            .collect(
                                    toMap(LayerProfile.Entry::path, LayerProfile.Entry::precision));
            assertEquals("int8", products.get("mlp.fc1"));
            assertEquals("int8", products.get("mlp.fc2"));
            assertEquals("float32", products.get("mlp"));
            assertEquals("float32", products.get("narrow"));
            for (Precision precision : List.of(Precision.FLOAT32, Precision.BFLOAT16)) {
                NDArray found =
                        NoGrad.call(
                                () -> Autocast.call(precision, Device.cpu(), () -> model.apply(x)));
                assertEquals(expected.getShape(), found.getShape());
                NDArray difference = Tensors.toFloat32(found).sub(expected).square().sum();
                double error = difference.getFloat() / expected.square().sum().getFloat();
                assertTrue(error > 1e-8 && error < 1e-3, precision + ": " + error);
            }
            model.train(true);
            assertArrayEquals(
                    expected.toFloatArray(), model.apply(x).toFloatArray(), 1e-5f, "unfused");
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

    @Test
    void rejectsRepeatedLayers() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            List<String> layers = List.of("wide.conv", "point.conv", "wide.conv");
            SaccadeException e =
                    assertThrows(
                            SaccadeException.class,
                            () -> Quantization.apply(model(manager), layers));
            assertEquals(
                    "quantized_layers: got wide.conv 2 times, expected each layer once",
                    e.getMessage());
        }
    }
}
