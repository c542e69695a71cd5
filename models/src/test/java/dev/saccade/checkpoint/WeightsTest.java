package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.MemoryFormat;

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

class WeightsTest {

    private static final class Parent extends Module {

        Parent child(String name, Module child) {
            add(name, child);
            return this;
        }

        @Override
        public NDList call(NDList inputs) {
            throw new UnsupportedOperationException();
        }
    }

    private NDManager manager;
    private Module detector;

    @BeforeEach
    void build() {
        manager = NDManager.newBaseManager();
        detector = detector();
        detector.initialize(manager, 1);
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private static Module backbone() {
        return new Parent()
                .child("conv1", Conv2d.withoutBias(3, 4, 3, 1, 1))
                .child("layer1.0.bn1", new BatchNorm2d(4));
    }

    private static Module detector() {
        return new Parent()
                .child("backbone", backbone())
                .child("neck.lateral_convs.0.conv", conv())
                .child("neck.fpn_convs.3.conv", conv())
                .child("bbox_head.cls_convs.1.conv", conv())
                .child("bbox_head.retina_cls", conv());
    }

    private static Conv2d conv() {
        return new Conv2d(4, 4, 1, 1, 0, WeightInit.ZEROS);
    }

    @Test
    void aModuleComesBackFromItsCheckpoint() {
        Checkpoint checkpoint = Checkpoint.of(detector, Map.of());
        Module other = detector();
        other.initialize(manager, 2);

        LoadReport report = Weights.restore(checkpoint, other);

        assertTrue(report.isComplete());
        assertEquals(checkpoint, Checkpoint.of(other, Map.of()));
        assertEquals(1.0, report.ratio());
    }

    @Test
    void theArraysStayAndKeepLearning() {
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
    void arraysOfAnotherMemoryFormatGetTheirValuesInTheRightOrder() {
        float[] values = new float[24];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        Shape shape = new Shape(1, 2, 3, 4);
        NDArray channelsLast = MemoryFormat.channelsLast(manager.zeros(shape));

        TestFiles.tensor(shape, values).copyTo(channelsLast);

        assertArrayEquals(values, channelsLast.toFloatArray());
        assertArrayEquals(values, TestFiles.values(Tensor.of(channelsLast)));
    }

    @Test
    void aBackboneFindsItsPlaceInADetectorAndBack() {
        Module backbone = backbone();
        backbone.initialize(manager, 5);

        LoadReport report = Weights.initialize(Checkpoint.of(backbone, Map.of()), detector);

        assertEquals(1.0, report.ratio());
        assertEquals("backbone.conv1.weight", report.loaded().get(0));
        assertTrue(report.fresh().contains("neck.fpn_convs.3.conv.bias"));
        Module other = backbone();
        other.initialize(manager, 6);
        Weights.restore(Checkpoint.of(detector, Map.of()), other);
        assertEquals(Checkpoint.of(backbone, Map.of()), Checkpoint.of(other, Map.of()));
    }

    @Test
    void classifiersAndCountersNeedNoPlace() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("conv1.weight", TestFiles.ones(new Shape(4, 3, 3, 3)));
        tensors.put("layer1.0.bn1.num_batches_tracked", TestFiles.ones(new Shape()));
        tensors.put("fc.weight", TestFiles.ones(new Shape(10, 4)));
        tensors.put("layer9.weight", TestFiles.ones(new Shape(1)));

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

        assertEquals(List.of("layer1.0.bn1.num_batches_tracked", "fc.weight"), report.ignored());
        assertEquals(List.of("layer9.weight"), report.unexpected());
        assertEquals(0.5, report.ratio());
    }

    @Test
    void namesOfTorchvisionDetectorsAreTranslated() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        Tensor weight = TestFiles.ones(new Shape(4, 4, 1, 1));
        tensors.put("backbone.body.conv1.weight", TestFiles.ones(new Shape(4, 3, 3, 3)));
        tensors.put("backbone.fpn.inner_blocks.0.0.weight", weight);
        tensors.put("backbone.fpn.extra_blocks.p6.weight", weight);
        tensors.put("head.classification_head.conv.2.weight", weight);
        tensors.put("head.classification_head.cls_logits.weight", weight);

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

        assertEquals(
                List.of(
                        "backbone.conv1.weight",
                        "neck.lateral_convs.0.conv.weight",
                        "neck.fpn_convs.3.conv.weight",
                        "bbox_head.cls_convs.1.conv.weight",
                        "bbox_head.retina_cls.weight"),
                report.loaded());
    }

    @Test
    void twoTensorsForOnePlaceAreAnError() {
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
    void anotherModelIsAnErrorThatShowsTheDifferences() {
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
        assertTrue(message.contains("unexpected in the checkpoint, not used: 300"), message);
        assertTrue(message.contains("encoder.layer0.* (8)"), message);
        assertTrue(message.contains("... and 28 more such lines"), message);
        assertTrue(message.lines().count() < 40, message);
        assertEquals(before, Checkpoint.of(detector, Map.of()), "nothing may have changed");
    }

    @Test
    void anotherShapeStaysOutAndIsReported() {
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(Checkpoint.of(detector, Map.of()).tensors());
        tensors.put("bbox_head.retina_cls.weight", TestFiles.ones(new Shape(7, 4, 1, 1)));
        Checkpoint checkpoint = new Checkpoint(tensors, Map.of());

        LoadReport report = Weights.initialize(checkpoint, detector);

        assertEquals(
                List.of(
                        new LoadReport.Misshaped(
                                "bbox_head.retina_cls.weight",
                                new Shape(7, 4, 1, 1),
                                new Shape(4, 4, 1, 1))),
                report.misshaped());
        String message =
                assertThrows(SaccadeException.class, () -> Weights.restore(checkpoint, detector))
                        .getMessage();
        assertTrue(message.contains("got (7, 4, 1, 1), expected (4, 4, 1, 1)"), message);
    }

    /** A classifier of smaller windows and images, as its official code saves it. */
    private Map<String, Tensor> pretraining() {
        Module swin = TestFiles.swin(4);
        swin.initialize(manager, 1);
        Map<String, Tensor> tensors = new LinkedHashMap<>(Checkpoint.of(swin, Map.of()).tensors());
        tensors.keySet().removeIf(name -> name.matches("norm\\d.*"));
        Shape shape = new Shape(1, 16, 4);
        tensors.put(
                "absolute_pos_embed",
                new Tensor(ElementType.FLOAT32, shape, tensors.get("absolute_pos_embed").data()));
        tensors.put("layers.0.blocks.1.attn_mask", TestFiles.ones(new Shape(4, 16, 16)));
        tensors.put("norm.weight", TestFiles.ones(new Shape(32)));
        tensors.put("head.weight", TestFiles.ones(new Shape(10, 32)));
        return new LinkedHashMap<>(
                Naming.OFFICIAL.fromSaccade(new Checkpoint(tensors, Map.of())).tensors());
    }

    @Test
    void aClassifierOfOtherWindowsStartsADenseBackbone() {
        Map<String, Tensor> tensors = pretraining();
        String odd = "layers.2.blocks.0.attn.relative_position_bias_table";
        tensors.put(odd, TestFiles.ones(new Shape(49, 3)));
        Module swin = TestFiles.swin(7);
        swin.initialize(manager, 2);
        Checkpoint before = Checkpoint.of(swin, Map.of());

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), swin);

        assertEquals(
                List.of("norm0.weight", "norm0.bias", "norm1.weight", "norm1.bias"),
                report.fresh().subList(0, 4));
        assertEquals(8, report.fresh().size());
        assertEquals(List.of(), report.missing());
        assertEquals(List.of(), report.unexpected());
        assertEquals(
                List.of(new LoadReport.Misshaped(odd, new Shape(49, 3), new Shape(169, 4))),
                report.misshaped());
        assertEquals(5, report.resized().size(), "an embedding and four of five blocks");
        assertEquals(
                new LoadReport.Resized(
                        "layers.3.blocks.0.attn.relative_position_bias_table",
                        new Shape(49, 8),
                        new Shape(169, 8),
                        "bicubic"),
                report.resized().get(4));
        Checkpoint after = Checkpoint.of(swin, Map.of());
        assertEquals(before.tensors().get(odd), after.tensors().get(odd));
        assertEquals(
                tensors.get("layers.1.downsample.reduction.weight"),
                after.tensors().get("layers.1.downsample.reduction.weight"));
        String text = report.toString();
        assertTrue(text.contains("start as the config says: 8"), text);
        assertTrue(text.contains("from (49, 8) to (169, 8), bicubic"), text);
        assertTrue(text.contains("*.relative_position_index (5)"), text);
    }

    @Test
    void nothingIsFittedThatIsPutBack() {
        Module swin = TestFiles.swin(7);
        swin.initialize(manager, 2);
        Checkpoint checkpoint = new Checkpoint(pretraining(), Map.of());

        String message =
                assertThrows(SaccadeException.class, () -> Weights.restore(checkpoint, swin))
                        .getMessage();

        assertTrue(message.contains("got (49, 8), expected (169, 8)"), message);
    }

    @Test
    void neckAndHeadStartAsTheConfigSaysWhereTheFileIsOfABackbone() {
        Module backbone = backbone();
        backbone.initialize(manager, 5);
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(Checkpoint.of(backbone, Map.of()).tensors());
        tensors.remove("conv1.weight");

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), detector);

        assertEquals(List.of("backbone.conv1.weight"), report.missing());
        assertEquals(8, report.fresh().size());
        assertTrue(report.fresh().contains("bbox_head.retina_cls.bias"));
    }

    @Test
    void onlyTheBackboneOfADetectorIsWanted() {
        Module backbone = backbone();
        backbone.initialize(manager, 5);

        LoadReport report = Weights.initialize(Checkpoint.of(detector, Map.of()), backbone);

        assertTrue(report.isComplete());
        assertEquals(List.of(), report.unexpected());
        assertTrue(report.ignored().contains("neck.fpn_convs.3.conv.weight"));
    }

    /** MoBY keeps the encoder that learns, its running mean and projections in one file. */
    @Test
    void theEncoderThatLearnsIsTakenFromSelfSupervision() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (String part : List.of("encoder.", "encoder_k.", "projector.")) {
            Module backbone = backbone();
            backbone.initialize(manager, part.hashCode());
            Checkpoint.of(backbone, Map.of())
                    .tensors()
                    .forEach((name, tensor) -> tensors.put(part + name, tensor));
        }

        Module backbone = backbone();
        backbone.initialize(manager, 5);
        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), backbone);

        assertTrue(report.isComplete());
        assertEquals(
                tensors.get("encoder.conv1.weight"),
                Checkpoint.of(backbone, Map.of()).tensors().get("conv1.weight"));
    }

    /** Names of ours that look like those of another library are still ours. */
    @Test
    void aModuleWithForeignNamesComesBack() {
        Module module =
                new Parent()
                        .child("layers.3.downsample.reduction", conv())
                        .child("layers.1.downsample.reduction", conv());
        module.initialize(manager, 1);

        assertTrue(Weights.restore(Checkpoint.of(module, Map.of()), module).isComplete());
    }

    private Checkpoint with(String name, Tensor tensor) {
        Map<String, Tensor> tensors =
                new LinkedHashMap<>(Checkpoint.of(detector, Map.of()).tensors());
        tensors.put(name, tensor);
        return new Checkpoint(tensors, Map.of());
    }

    /** Refused at each door, with a message that has these parts; the module stays as it is. */
    private void assertRefused(Checkpoint checkpoint, String... parts) {
        Checkpoint before = Checkpoint.of(detector, Map.of());
        List<Executable> doors =
                List.of(
                        () -> Weights.restore(checkpoint, detector),
                        () -> Weights.initialize(checkpoint, detector),
                        () -> Weights.restore(checkpoint, detector(), manager));
        for (Executable door : doors) {
            SaccadeException e = assertThrows(SaccadeException.class, door);
            assertEquals(SaccadeException.Kind.USER, e.kind());
            for (String part : parts) {
                assertTrue(e.getMessage().contains(part), e.getMessage());
            }
        }
        assertEquals(before, Checkpoint.of(detector, Map.of()), "nothing may have changed");
    }

    @Test
    void weightsThatAreNoNumbersAreRefused() {
        for (float value : new float[] {Float.NaN, Float.POSITIVE_INFINITY, -1f / 0}) {
            assertRefused(
                    with(
                            "neck.fpn_convs.3.conv.bias",
                            TestFiles.tensor(new Shape(4), 1, 2, 3, value)),
                    "not finite",
                    "neck.fpn_convs.3.conv.bias;");
        }
        assertRefused(
                with("backbone.layer1.0.bn1.running_var", half(0x3c00, 0x7c00, 0, 0)),
                "not finite",
                "backbone.layer1.0.bn1.running_var");
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
    void allThatIsWrongIsToldTogetherAndInShort() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        Checkpoint.of(detector, Map.of())
                .tensors()
                .forEach(
                        (name, tensor) -> {
                            float[] values = new float[(int) tensor.elements()];
                            Arrays.fill(values, Float.NaN);
                            tensors.put(name, TestFiles.tensor(tensor.shape(), values));
                        });
        tensors.put("backbone.conv1.weight", relabelled(new Shape(4, 3, 3, 3)));

        assertRefused(
                new Checkpoint(tensors, Map.of()),
                "2 problems",
                "integers are stored for backbone.conv1.weight;",
                "bn1.weight, backbone.layer1.0.bn1.bias",
                " and 7 more;");
    }

    /** Returns floats of which the header of a file says that they are integers. */
    private static Tensor relabelled(Shape shape) {
        return new Tensor(ElementType.INT32, shape, TestFiles.ones(shape).data());
    }

    @Test
    void integersAreNoWeights() {
        assertRefused(
                with("bbox_head.retina_cls.weight", relabelled(new Shape(4, 4, 1, 1))),
                "integers are stored for bbox_head.retina_cls.weight");
    }

    @Test
    void integersAreNoTableOfPositionsEither() {
        Map<String, Tensor> tensors = pretraining();
        String table = "layers.2.blocks.0.attn.relative_position_bias_table";
        tensors.put(table, relabelled(tensors.get(table).shape()));
        Module swin = TestFiles.swin(7);
        swin.initialize(manager, 2);

        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Weights.initialize(new Checkpoint(tensors, Map.of()), swin))
                        .getMessage();

        assertTrue(message.contains("integers are stored for " + table), message);
    }

    @Test
    void countersAreIntegersAndOfNoInterest() {
        Tensor count = new Tensor(ElementType.INT64, new Shape(), ByteBuffer.allocate(8));

        LoadReport report =
                Weights.initialize(
                        with("backbone.layer1.0.bn1.num_batches_tracked", count), detector);

        assertTrue(report.isComplete());
    }
}
