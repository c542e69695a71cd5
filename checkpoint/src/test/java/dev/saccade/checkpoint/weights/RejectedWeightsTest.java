package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.TestFiles;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Weights that no module accepts; rejecting them leaves the module unchanged. */
class RejectedWeightsTest {

    private NDManager manager;
    private Module detector;

    @BeforeEach
    void build() {
        manager = NDManager.newBaseManager();
        detector = Modules.detector();
        detector.initialize(manager, 1);
    }

    @AfterEach
    void close() {
        manager.close();
    }

    @Test
    void twoTensorsWithOneNameAreAnError() {
        Tensor weight = TestFiles.ones(new Shape(4, 3, 3, 3));
        Checkpoint checkpoint =
                new Checkpoint(
                        Map.of(
                                "backbone.conv1.weight",
                                weight,
                                "backbone.body.conv1.weight",
                                weight),
                        Map.of());

        String message =
                assertThrows(SaccadeException.class, () -> Weights.initialize(checkpoint, detector))
                        .getMessage();

        assertTrue(message.contains("two tensors for backbone.conv1.weight"), message);
    }

    @Test
    void anotherModelIsRejectedWithTheDifferences() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (int i = 0; i < 300; i++) {
            tensors.put("encoder.layer" + i % 40 + ".w" + i, TestFiles.ones(new Shape(1)));
        }
        tensors.put("backbone.conv1.weight", TestFiles.ones(new Shape(4, 3, 3, 3)));
        Checkpoint before = Checkpoint.of(detector, Map.of());

        String message =
                assertThrows(
                                SaccadeException.class,
                                () ->
                                        Weights.initialize(
                                                new Checkpoint(tensors, Map.of()), detector))
                        .getMessage();

        assertTrue(message.contains("loaded 1 of 13 parameters"), message);
        assertTrue(message.contains("unexpected in the checkpoint, ignored: 300"), message);
        assertTrue(message.contains("encoder.layer0.* (8)"), message);
        assertTrue(message.contains("... and 28 more lines"), message);
        assertTrue(message.lines().count() < 40, message);
        assertEquals(before, Checkpoint.of(detector, Map.of()), "nothing may have changed");
    }

    private Checkpoint with(String name, Tensor tensor) {
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(Checkpoint.of(detector, Map.of()).tensors());
        tensors.put(name, tensor);
        return new Checkpoint(tensors, Map.of());
    }

    /** Checks that every entry point rejects a checkpoint with these parts in the message. */
    private void assertRefused(Checkpoint checkpoint, String... parts) {
        Checkpoint before = Checkpoint.of(detector, Map.of());
        List<Executable> entryPoints =
                List.of(
                        () -> Weights.restore(checkpoint, detector),
                        () -> Weights.initialize(checkpoint, detector),
                        () -> Weights.restore(checkpoint, Modules.detector(), manager));
        for (Executable entryPoint : entryPoints) {
            SaccadeException e = assertThrows(SaccadeException.class, entryPoint);
            assertEquals(SaccadeException.Kind.USER, e.kind());
            for (String part : parts) {
                assertTrue(e.getMessage().contains(part), e.getMessage());
            }
        }
        assertEquals(before, Checkpoint.of(detector, Map.of()), "nothing may have changed");
    }

    @Test
    void rejectsNonFiniteWeights() {
        for (float value : new float[] {Float.NaN, Float.POSITIVE_INFINITY, -1f / 0}) {
            assertRefused(
                    with("neck.fpn_convs.3.conv.bias", Tensor.of(new Shape(4), 1, 2, 3, value)),
                    "NaN or infinite",
                    "neck.fpn_convs.3.conv.bias ");
        }
        assertRefused(
                with("backbone.layer1.0.bn1.running_var", half(0x3c00, 0x7c00, 0, 0)),
                "NaN or infinite",
                "backbone.layer1.0.bn1.running_var");
    }

    @Test
    void acceptsLargeFiniteWeights() {
        Checkpoint checkpoint =
                with("neck.fpn_convs.3.conv.bias", Tensor.of(new Shape(4), 3e38f, 3e38f, 1, 2));
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Module detector = Modules.detector();
            Weights.restore(checkpoint, detector, manager);
            assertArrayEquals(
                    new float[] {3e38f, 3e38f, 1, 2},
                    detector.namedParameters()
                            .get("neck.fpn_convs.3.conv.bias")
                            .getArray()
                            .toFloatArray());
        }
    }

    private static Tensor half(int... bits) {
        ByteBuffer bytes =
                ByteBuffer.allocate(bits.length * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int each : bits) {
            bytes.putShort((short) each);
        }
        return new Tensor(ElementType.FLOAT16, new Shape(bits.length), bytes.flip());
    }

    @Test
    void reportsAllProblemsBriefly() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        Checkpoint.of(detector, Map.of())
                .tensors()
                .forEach(
                        (name, tensor) -> {
                            float[] values = new float[(int) tensor.elements()];
                            Arrays.fill(values, Float.NaN);
                            tensors.put(name, Tensor.of(tensor.shape(), values));
                        });
        tensors.put("backbone.conv1.weight", relabeled(new Shape(4, 3, 3, 3)));

        assertRefused(
                new Checkpoint(tensors, Map.of()),
                "2 problems",
                "got integers for backbone.conv1.weight,",
                "bn1.weight, backbone.layer1.0.bn1.bias",
                " and 7 more ");
    }

    /** Returns floats that the header declares as integers. */
    private static Tensor relabeled(Shape shape) {
        return new Tensor(ElementType.INT32, shape, TestFiles.ones(shape).data());
    }

    @Test
    void rejectsIntegerWeights() {
        assertRefused(
                with("bbox_head.retina_cls.weight", relabeled(new Shape(4, 4, 1, 1))),
                "got integers for bbox_head.retina_cls.weight");
    }

    @Test
    void ignoresIntegerCounters() {
        Tensor count = new Tensor(ElementType.INT64, new Shape(), ByteBuffer.allocate(8));

        LoadReport report =
                Weights.initialize(
                        with("backbone.layer1.0.bn1.num_batches_tracked", count), detector);

        assertTrue(report.isComplete());
    }
}
