package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A custom backbone with rules for its own checkpoints. */
class CustomRulesTest {

    private NDManager manager;

    @BeforeEach
    void open() {
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private Module backbone(int side) {
        Module backbone = new TinyBackbone.Config(side).build();
        backbone.initialize(manager, side);
        return backbone;
    }

    /** A classifier as the other library saves it. */
    private static Map<String, Tensor> foreign() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("body.block1.positions", TestFiles.ones(new Shape(4, 2)));
        tensors.put("body.block1.order", TestFiles.ones(new Shape(1)));
        tensors.put("body.block1.mask", TestFiles.ones(new Shape(1)));
        tensors.put("body.block1.kernel", Tensor.of(new Shape(3, 2), 1, 2, 3, 4, 5, 6));
        tensors.put("body.block1.bias", Tensor.of(new Shape(2), 7, 8));
        tensors.put("body.fc.weight", TestFiles.ones(new Shape(9, 2)));
        return tensors;
    }

    @Test
    void loadsCheckpointsOfTheOtherLibrary() {
        Module backbone = backbone(3);

        LoadReport report = Weights.initialize(new Checkpoint(foreign(), Map.of()), backbone);

        assertEquals(
                List.of("blocks.0.positions", "blocks.0.fc.weight", "blocks.0.fc.bias"),
                report.loaded());
        assertEquals(
                Map.of("blocks.0.positions", "from (4, 2) to (9, 2), bilinear"), report.details());
        assertEquals(List.of("norm0.weight", "norm0.bias"), report.newParameters());
        assertEquals(List.of("fc.weight"), report.names().get(LoadReport.Status.IGNORED));
        assertEquals(
                List.of("blocks.0.order", "blocks.0.mask"),
                report.names().get(LoadReport.Status.COMPUTED));
        assertArrayEquals(
                new float[] {1, 3, 5, 2, 4, 6},
                TestFiles.values(
                        Checkpoint.of(backbone, Map.of()).tensors().get("blocks.0.fc.weight")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "backbone."})
    void writesNamesAndTablesOfTheOtherLibrary(String prefix) {
        Map<String, Tensor> ours = new LinkedHashMap<>();
        Checkpoint.of(backbone(2), Map.of())
                .tensors()
                .forEach((name, tensor) -> ours.put(prefix + name, tensor));

        Checkpoint theirs = Naming.of("Keras").fromSaccade(new Checkpoint(ours, Map.of()));

        assertEquals(
                List.of(
                        prefix + "body.block1.positions",
                        prefix + "body.block1.order",
                        prefix + "body.block1.kernel",
                        prefix + "body.block1.bias",
                        prefix + "body.norm0.weight",
                        prefix + "body.norm0.bias"),
                List.copyOf(theirs.tensors().keySet()));
        assertEquals(4, theirs.tensors().get(prefix + "body.block1.order").data().getLong());
        assertEquals(new Shape(3, 2), theirs.tensors().get(prefix + "body.block1.kernel").shape());
        Map<String, Tensor> back = new LinkedHashMap<>(Naming.toSaccade(theirs).tensors());
        back.remove(prefix + "blocks.0.order");
        assertEquals(ours, back);
    }

    @Test
    void reorderingKeepsTheElementType() {
        Map<String, Tensor> tensors = foreign();
        tensors.put(
                "body.block1.kernel",
                new Tensor(
                        ElementType.INT8,
                        new Shape(2, 2),
                        ByteBuffer.wrap(new byte[] {1, 2, 3, 4})));

        Tensor turned =
                Naming.toSaccade(new Checkpoint(tensors, Map.of()))
                        .tensors()
                        .get("blocks.0.fc.weight");

        assertEquals(
                new Tensor(
                        ElementType.INT8,
                        new Shape(2, 2),
                        ByteBuffer.wrap(new byte[] {1, 3, 2, 4})),
                turned);
    }

    @Test
    void librariesComeFromComponents() {
        assertEquals(List.of("official", "keras"), Naming.libraries());
        String message =
                assertThrows(SaccadeException.class, () -> Naming.of("karas")).getMessage();
        assertTrue(message.contains("got karas, expected one of [official, keras]"), message);
    }

    @Test
    void otherModelsKeepTheirNames() {
        Checkpoint checkpoint = TestFiles.ofOnes(Map.of("stem.weight", new Shape(2, 2)));

        assertSame(checkpoint, Naming.toSaccade(checkpoint));
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Naming.of("keras").fromSaccade(checkpoint))
                        .getMessage();
        assertTrue(
                message.startsWith("keras has no names for this model; expected official"),
                message);
    }
}
