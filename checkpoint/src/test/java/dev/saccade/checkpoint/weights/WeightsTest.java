package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.TestFiles;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

class WeightsTest {

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
    void restoresAModuleFromItsCheckpoint() {
        Checkpoint checkpoint = Checkpoint.of(detector, Map.of());
        Module other = Modules.detector();
        other.initialize(manager, 2);

        LoadReport report = Weights.restore(checkpoint, other);

        assertTrue(report.isComplete());
        assertEquals(checkpoint, Checkpoint.of(other, Map.of()));
        assertEquals(1.0, report.ratio());
    }

    @Test
    void keepsArraysAndGradients() {
        Parameter weight = detector.namedParameters().get("backbone.conv1.weight");
        NDArray array = weight.getArray();
        array.setRequiresGradient(true);

        Weights.initialize(
                new Checkpoint(
                        Map.of("conv1.weight", TestFiles.ones(new Shape(4, 3, 3, 3))), Map.of()),
                detector);

        assertSame(array, weight.getArray());
        assertTrue(array.hasGradient());
        assertEquals(108, array.sum().getFloat());
    }

    @Test
    void copiesIntoOtherMemoryFormats() {
        float[] values = new float[24];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        Shape shape = new Shape(1, 2, 3, 4);
        NDArray channelsLast = MemoryFormat.channelsLast(manager.zeros(shape));

        Tensor.of(shape, values).copyTo(channelsLast);

        assertArrayEquals(values, channelsLast.toFloatArray());
        assertArrayEquals(values, TestFiles.values(Tensor.of(channelsLast)));
    }

    @Test
    void loadsBackbonesIntoDetectorsAndBack() {
        Module backbone = Modules.backbone();
        backbone.initialize(manager, 5);

        LoadReport report = Weights.initialize(Checkpoint.of(backbone, Map.of()), detector);

        assertEquals(1.0, report.ratio());
        assertEquals("backbone.conv1.weight", report.loaded().get(0));
        assertTrue(report.newParameters().contains("neck.fpn_convs.3.conv.bias"));
        Module other = Modules.backbone();
        other.initialize(manager, 6);
        Weights.restore(Checkpoint.of(detector, Map.of()), other);
        assertEquals(Checkpoint.of(backbone, Map.of()), Checkpoint.of(other, Map.of()));
    }

    @Test
    void ignoresClassifiersAndCounters() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("conv1.weight", TestFiles.ones(new Shape(4, 3, 3, 3)));
        tensors.put("layer1.0.bn1.num_batches_tracked", TestFiles.ones(new Shape()));
        tensors.put("fc.weight", TestFiles.ones(new Shape(10, 4)));
        tensors.put("layer9.weight", TestFiles.ones(new Shape(1)));

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

        assertEquals(
                List.of("layer1.0.bn1.num_batches_tracked"),
                report.names().get(LoadReport.Status.COMPUTED));
        assertEquals(List.of("fc.weight"), report.names().get(LoadReport.Status.IGNORED));
        assertEquals(List.of("layer9.weight"), report.unexpected());
        assertEquals(0.5, report.ratio());
    }

    @Test
    void reportsShapeMismatches() {
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(Checkpoint.of(detector, Map.of()).tensors());
        tensors.put("bbox_head.retina_cls.weight", TestFiles.ones(new Shape(7, 4, 1, 1)));
        Checkpoint checkpoint = new Checkpoint(tensors, Map.of());

        LoadReport report = Weights.initialize(checkpoint, detector);

        assertEquals(
                List.of("bbox_head.retina_cls.weight"),
                report.names().get(LoadReport.Status.SHAPE_MISMATCH));
        String message =
                assertThrows(SaccadeException.class, () -> Weights.restore(checkpoint, detector))
                        .getMessage();
        assertTrue(message.contains("got (7, 4, 1, 1), expected (4, 4, 1, 1)"), message);
    }

    @Test
    void backboneCheckpointsLeaveNeckAndHeadInitialized() {
        Module backbone = Modules.backbone();
        backbone.initialize(manager, 5);
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(Checkpoint.of(backbone, Map.of()).tensors());
        tensors.remove("conv1.weight");

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

        assertEquals(List.of("backbone.conv1.weight"), report.missing());
        assertEquals(8, report.newParameters().size());
        assertTrue(report.newParameters().contains("bbox_head.retina_cls.bias"));
    }

    @Test
    void loadsOnlyTheBackboneOfADetector() {
        Module backbone = Modules.backbone();
        backbone.initialize(manager, 5);

        LoadReport report = Weights.initialize(Checkpoint.of(detector, Map.of()), backbone);

        assertTrue(report.isComplete());
        assertEquals(List.of(), report.unexpected());
        assertTrue(
                report.names()
                        .get(LoadReport.Status.IGNORED)
                        .contains("neck.fpn_convs.3.conv.weight"));
    }

    /** MoBY stores the trained encoder, its running average and projections in one file. */
    @Test
    void usesTheTrainedEncoderOfSelfSupervision() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (String part : List.of("encoder.", "encoder_k.", "projector.")) {
            Module backbone = Modules.backbone();
            backbone.initialize(manager, part.hashCode());
            Checkpoint.of(backbone, Map.of())
                    .tensors()
                    .forEach((name, tensor) -> tensors.put(part + name, tensor));
        }

        Module backbone = Modules.backbone();
        backbone.initialize(manager, 5);
        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), backbone);

        assertTrue(report.isComplete());
        assertEquals(
                tensors.get("encoder.conv1.weight"),
                Checkpoint.of(backbone, Map.of()).tensors().get("conv1.weight"));
    }

    private static Map<String, Tensor> backbone(String prefix, long seed) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        try (NDManager manager = NDManager.newBaseManager()) {
            Module backbone = Modules.backbone();
            backbone.initialize(manager, seed);
            Checkpoint.of(backbone, Map.of())
                    .tensors()
                    .forEach((name, tensor) -> tensors.put(prefix + name, tensor));
        }
        return tensors;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "_orig_mod.",
                "module._orig_mod.",
                "model.trunk.",
                "encoder.",
                "backbone.bottom_up.",
                "net.0.anything.at.all."
            })
    void findsAnyPrefix(String prefix) {
        Map<String, Tensor> tensors = backbone(prefix, 5);

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

        assertEquals(1.0, report.ratio());
        assertEquals(5, report.loaded().size());
        assertTrue(report.toString().contains("\"" + prefix + "\""), report.toString());
        assertEquals(
                tensors.get(prefix + "conv1.weight"),
                Checkpoint.of(detector, Map.of()).tensors().get("backbone.conv1.weight"));
    }

    @ParameterizedTest
    @CsvSource({
        "module.encoder_q., module.encoder_k.",
        "model., ema_model.",
        "model., model_ema.",
        "teacher.backbone., student.backbone.",
        "online_network., target_network."
    })
    void choosesTheSameModelInAnyOrder(String used, String other) {
        for (boolean isFirst : new boolean[] {true, false}) {
            Map<String, Tensor> tensors = new LinkedHashMap<>(backbone(isFirst ? used : other, 5));
            tensors.putAll(backbone(isFirst ? other : used, 6));

            LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

            assertEquals(
                    tensors.get(used + "conv1.weight"),
                    Checkpoint.of(detector, Map.of()).tensors().get("backbone.conv1.weight"));
            String text = report.toString();
            assertTrue(text.contains("several models: used \"" + used + "\""), text);
            assertTrue(text.contains("not \"" + other + "\""), text);
        }
    }

    @Test
    void reportsIfOnlyNamesDiffer() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        backbone("", 5)
                .forEach(
                        (name, tensor) ->
                                tensors.put(
                                        name.replaceAll("[.].*", "_x") + tensors.size(), tensor));
        Checkpoint checkpoint = new Checkpoint(tensors, Map.of());

        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Weights.initialize(checkpoint, Modules.backbone()))
                        .getMessage();

        assertTrue(message.contains("rename the tensors to the missing names"), message);
        assertTrue(message.contains("conv1_x0"), message);
        assertTrue(message.lines().count() > 3, message);
    }

    /** Saccade names that look like names of another library stay unchanged. */
    @Test
    void restoresAModuleWithOtherNames() {
        Module module =
                new Modules.Parent()
                        .child("layers.3.downsample.reduction", Modules.conv())
                        .child("layers.1.downsample.reduction", Modules.conv());
        module.initialize(manager, 1);

        assertTrue(Weights.restore(Checkpoint.of(module, Map.of()), module).isComplete());
    }
}
