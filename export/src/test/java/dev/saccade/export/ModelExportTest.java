package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Holds what leaves Saccade against the model, in libtorch and in ONNX Runtime. */
class ModelExportTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @TempDir private Path folder;

    @BeforeEach
    void needsTheRecorder() {
        assumeTrue(Kernels.status().loaded());
        manager.getEngine().setRandomSeed(5);
    }

    @AfterEach
    void close() {
        manager.close();
    }

    /** What a model gives, in the form that it is exported in. */
    private static NDList expected(Model<?> model, NDList given) {
        NDArray sizes = given.size() > 1 ? given.get(1) : null;
        return DynamicShapes.callWithout(
                () -> ModelOutputs.of(model, given.get(0), sizes).outputs());
    }

    private NDList given(ModelExport export, Random random, Size size) {
        int images = 1 + random.nextInt(4);
        NDList given =
                new NDList(
                        manager.randomUniform(
                                -1, 1, new Shape(images, 3, size.height(), size.width())));
        if (export.inputs().size() > 1) {
            float[] sizes = new float[2 * images];
            for (int n = 0; n < images; n++) {
                sizes[2 * n] = size.width() - random.nextInt(20);
                sizes[2 * n + 1] = size.height() - random.nextInt(20);
            }
            given.add(manager.create(sizes, new Shape(images, 2)));
        }
        return given;
    }

    private void assertEqual(NDList expected, NDList got) {
        assertEquals(expected.size(), got.size());
        boolean detects = expected.size() > 1;
        NDArray places = detects ? firm(expected) : null;
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).getShape(), got.get(i).getShape());
            NDArray ours = finite(expected.get(i));
            NDArray theirs = finite(got.get(i));
            if (detects && i != 2 && i != 3) {
                // Objects of equal scores come in any order.
                Shape rows = new Shape(places.size(), ours.size() / places.size());
                ours = ours.reshape(rows).mul(places.reshape(-1, 1));
                theirs = theirs.reshape(rows).mul(places.reshape(-1, 1));
            }
            float[] values = ours.toFloatArray();
            float largest = ours.abs().max().getFloat();
            assertArrayEquals(values, theirs.toFloatArray(), Math.max(1e-4f * largest, 1e-5f));
        }
    }

    /** 1 for objects whose score is unlike that of both neighbors, and whose order is firm. */
    private NDArray firm(NDList detections) {
        NDArray scores = detections.get(2);
        float[] values = finite(scores).toFloatArray();
        int most = (int) scores.getShape().get(1);
        long[] counts = detections.get(3).toLongArray();
        float[] firm = new float[values.length];
        for (int k = 0; k < values.length; k++) {
            int place = k % most;
            boolean isThere = place < counts[k / most];
            boolean above = place == 0 || values[k - 1] - values[k] > 1e-4;
            boolean below = place == most - 1 || values[k] - values[k + 1] > 1e-4;
            firm[k] = isThere && above && below ? 1 : 0;
        }
        return manager.create(firm);
    }

    private static NDArray finite(NDArray array) {
        return array.toType(DataType.FLOAT32, true).maximum(-1e3f);
    }

    private void assertLeaves(Model<?> model, ModelExport export, List<Size> sizes) {
        for (ExportFormat format : ExportFormat.values()) {
            Path file = folder.resolve("model" + format.suffix());
            export.write(format, file);
            Random random = new Random(3);
            try (ExportedProgram program = format.open(file)) {
                for (Size size : sizes) {
                    NDList given = given(export, random, size);
                    assertEqual(expected(model, given), program.run(given));
                }
            }
        }
    }

    private static List<Size> sizes(int count) {
        Random random = new Random(7);
        List<Size> sizes = new ArrayList<>(List.of(new Size(64, 128), new Size(705, 90)));
        IntStream.range(1, count)
                .forEach(
                        i ->
                                sizes.add(
                                        new Size(
                                                64 + random.nextInt(120),
                                                64 + random.nextInt(120))));
        return sizes;
    }

    private void assertLeaves(String backbone, String neck, String head) {
        Model<?> model = TinyModel.of(backbone, neck, head, manager);
        assertLeaves(model, ModelExport.of(model).record(), sizes(3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                TinyModel.RESNET,
                TinyModel.SWIN,
                "{type: pvt, embed_dims: [8, 16, 24, 32], num_heads: [1, 2, 3, 4], depths: [1, 1,"
                        + " 1, 1]}",
                "{type: linglo, variant: b0}",
                "{type: elsa_swin, embed_dim: 12, num_heads: [1, 2, 3, 6], depths: [1, 1, 1, 1]}",
                "{type: focal, embed_dim: 12, num_heads: [1, 2, 3, 6], depths: [1, 2, 1, 1]}",
                "{type: unified_swin, embed_dim: 12, num_heads: [1, 2, 3, 6], depths: [1, 1, 1,"
                        + " 1]}",
                "{type: unified_swin, embed_dim: 12, num_heads: [1, 2, 3, 6], depths: [1, 1, 1,"
                        + " 1], region: neighbor}",
                "{type: dwnet, embed_dim: 12, depths: [1, 1, 1, 1]}",
                "{type: dwnet, embed_dim: 12, depths: [1, 1, 1, 1], dynamic: true}",
                "{type: dwconv_swin, embed_dim: 12, depths: [1, 1, 1, 1]}",
                "{type: dynamic_conv_swin, embed_dim: 12, num_heads: [1, 2, 3, 6], depths: [1, 1,"
                        + " 1, 1]}"
            })
    void everyBackboneWithDetector(String backbone) {
        assertLeaves(backbone, TinyModel.FPN, TinyModel.RETINANET);
    }

    @Test
    void torchvisionsRetinaNet() {
        assertLeaves(
                TinyModel.RESNET,
                TinyModel.FPN,
                "{type: retinanet, feat_channels: 16, stacked_convs: 1, norm_groups: 4, nms_pre: 60,"
                        + " nms_pre_pairs: true, bbox_coder: {clip_shrinking: false}, anchor_sizes:"
                        + " [[16, 20], [32, 40], [64, 80], [128, 161], [256, 322]]}");
    }

    @Test
    void maskRcnn() {
        assertLeaves(TinyModel.RESNET, TinyModel.FPN, TinyModel.MASK_RCNN);
    }

    @Test
    void cascadeMaskRcnn() {
        assertLeaves(TinyModel.SWIN, TinyModel.FPN, TinyModel.CASCADE_MASK_RCNN);
    }

    @Test
    void segmenters() {
        assertLeaves(TinyModel.RESNET, TinyModel.FPN, "{type: semantic_fpn, channels: 16}");
        assertLeaves(TinyModel.SWIN, "null", "{type: upernet, channels: 16}");
    }

    @Test
    void shrinkingWindowsNeedAFixedSize() {
        Model<?> model =
                TinyModel.of(
                        TinyModel.SWIN.replace("}", ", window_order: shift_then_pad}"),
                        TinyModel.FPN,
                        TinyModel.RETINANET,
                        manager);
        String told =
                assertThrows(SaccadeException.class, () -> ModelExport.of(model).record())
                        .getMessage();
        assertTrue(told.endsWith("; export with a fixed size"), told);
        Size size = new Size(128, 96);
        assertLeaves(model, ModelExport.of(model).size(size).record(), List.of(size));
    }

    @Test
    void imagesOfOneSize() {
        Model<?> model = TinyModel.of(TinyModel.SWIN, TinyModel.FPN, TinyModel.RETINANET, manager);
        Size size = new Size(96, 160);
        ModelExport export = ModelExport.of(model).size(size).record();
        assertLeaves(model, export, List.of(size, size));
        assertEquals(List.of("images", "sizes"), export.inputs());
        assertEquals(List.of("boxes", "labels", "scores", "counts"), export.outputs());
    }

    @Test
    void rejectsComponentsThatReadArrays() {
        SaccadeException soft =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                ModelExport.of(
                                                TinyModel.of(
                                                        TinyModel.RESNET,
                                                        TinyModel.FPN,
                                                        "{type: retinanet, nms: {type: soft_nms}}",
                                                        manager))
                                        .size(new Size(64, 64))
                                        .record());
        assertTrue(soft.getMessage().contains("SoftNms"), soft.getMessage());
    }
}
