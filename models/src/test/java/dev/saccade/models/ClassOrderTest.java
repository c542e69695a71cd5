package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** Class layers of third-party checkpoints are matched by class name. */
class ClassOrderTest {

    private static final String SMALL =
            "backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}\n";

    private static final String FPN = SMALL + "neck: {type: fpn, out_channels: 8}\n";

    private static final String RETINANET =
            FPN + "head: {type: retinanet, feat_channels: 8, stacked_convs: 1}";

    private static final String BOX_HEAD = "{num_shared_fcs: 1, fc_out_channels: 8}";

    private static final String MASK_RCNN =
            FPN
                    + "head: {type: mask_rcnn, rpn_head: {feat_channels: 8}, bbox_roi_extractor:"
                    + " {output_size: 7}, mask_roi_extractor: {output_size: 14}, bbox_head: "
                    + BOX_HEAD
                    + ", mask_head: {num_convs: 1, conv_out_channels: 8}}";

    private final NDManager manager = NDManager.newBaseManager();

    @AfterEach
    void close() {
        manager.close();
    }

    private Model<?> model(String config, long seed, String... classes) {
        Model<?> model =
                Configs.bind(ConfigFile.parse(config, "test"), ModelConfig.class)
                        .build(List.of(classes));
        model.initialize(manager, seed);
        return model;
    }

    /** Returns the weights of a model as another library saves them. */
    private static Checkpoint thirdParty(Model<?> model, String key) {
        String names = "[\"" + String.join("\",\"", model.classes()) + "\"]";
        return Checkpoint.of(model, Map.of(key, names));
    }

    private static float[] row(Checkpoint checkpoint, String name, int row) {
        Tensor tensor = checkpoint.tensors().get(name);
        int length = (int) (tensor.elements() / tensor.shape().get(0));
        float[] values = new float[length];
        tensor.floats().get(row * length, values);
        return values;
    }

    private static void assertRows(
            Checkpoint found, Checkpoint expected, String name, int... sources) {
        assertEquals(sources.length, found.tensors().get(name).shape().get(0), name);
        IntFunction<String> label = row -> name + ", row " + row;
        for (int row = 0; row < sources.length; row++) {
            assertArrayEquals(
                    row(expected, name, sources[row]), row(found, name, row), label.apply(row));
        }
    }

    @Test
    void anchorsHaveARowPerClass() {
        Checkpoint theirs = thirdParty(model(RETINANET, 1, "cat", "dog", "cow"), "CLASSES");
        Model<?> ours = model(RETINANET, 2, "cow", "cat", "dog");

        LoadReport report = ours.initializeFrom(theirs);

        assertTrue(report.isComplete());
        assertTrue(report.toString().contains("classes matched by name: 3 of 3"), "" + report);
        int[] sources = new int[27];
        for (int anchor = 0; anchor < 9; anchor++) {
            sources[3 * anchor] = 3 * anchor + 2;
            sources[3 * anchor + 1] = 3 * anchor;
            sources[3 * anchor + 2] = 3 * anchor + 1;
        }
        Checkpoint loaded = Checkpoint.of(ours, Map.of());
        assertRows(loaded, theirs, "bbox_head.retina_cls.weight", sources);
        assertEquals(
                theirs.tensors().get("bbox_head.retina_reg.weight"),
                loaded.tensors().get("bbox_head.retina_reg.weight"));
    }

    @Test
    void boxesHaveFourRowsPerClassAndBackgroundStaysLast() {
        Checkpoint theirs = thirdParty(model(MASK_RCNN, 1, "cat", "dog"), "dataset_meta.classes");
        Model<?> ours = model(MASK_RCNN, 2, "dog", "cat");

        assertTrue(ours.initializeFrom(theirs).isComplete());

        Checkpoint loaded = Checkpoint.of(ours, Map.of());
        assertRows(loaded, theirs, "roi_head.bbox_head.fc_cls.weight", 1, 0, 2);
        assertRows(loaded, theirs, "roi_head.bbox_head.fc_reg.weight", 4, 5, 6, 7, 0, 1, 2, 3);
        assertRows(loaded, theirs, "roi_head.mask_head.conv_logits.weight", 1, 0);
    }

    @Test
    void missingClassesKeepTheirInitialRows() {
        Checkpoint theirs =
                thirdParty(model(MASK_RCNN, 1, "Traffic light", "dog", "cow"), "CLASSES");
        Model<?> ours = model(MASK_RCNN, 2, "bird", "traffic_light");
        Checkpoint before = Checkpoint.of(ours, Map.of());

        LoadReport report = ours.initializeFrom(theirs);

        String name = "roi_head.bbox_head.fc_cls.weight";
        Checkpoint loaded = Checkpoint.of(ours, Map.of());
        assertArrayEquals(row(before, name, 0), row(loaded, name, 0));
        assertArrayEquals(row(theirs, name, 0), row(loaded, name, 1));
        assertArrayEquals(row(theirs, name, 3), row(loaded, name, 2), "background");
        String text = report.toString();
        assertTrue(text.contains("classes matched by name: 1 of 2"), text);
        assertTrue(text.contains("spelled differently: traffic_light = Traffic light"), text);
        assertTrue(text.contains("initialized from scratch: bird"), text);
    }

    @Test
    void unknownNamesAreReported() {
        Checkpoint theirs = Checkpoint.of(model(RETINANET, 1, "cat", "dog"), Map.of());
        Model<?> ours = model(RETINANET, 2, "cow", "hen");

        LoadReport report = ours.initializeFrom(theirs);

        assertTrue(report.isComplete());
        assertTrue(report.toString().contains("the checkpoint has no class names"));
    }

    /** Reordering rows and back changes nothing. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                RETINANET,
                MASK_RCNN,
                FPN + "head: {type: atss, feat_channels: 32, stacked_convs: 1}",
                FPN
                        + "head: {type: retinanet, feat_channels: 8, stacked_convs: 1,"
                        + " loss_cls: {type: cross_entropy}}",
                FPN
                        + "head: {type: htc, bbox_roi_extractor: {output_size: 7}, mask_head:"
                        + " {num_convs: 1, conv_out_channels: 8}, semantic_head:"
                        + " {conv_out_channels: 8}}",
                FPN
                        + "head: {type: cascade_mask_rcnn, bbox_roi_extractor: {output_size: 7},"
                        + " mask_roi_extractor: {output_size: 14}}",
                SMALL + "head: {type: upernet, channels: 8}",
                SMALL + "head: {type: fcn, channels: 8}",
                FPN + "head: {type: semantic_fpn, channels: 32}"
            })
    void everyHeadKeepsItsRowsInAnotherOrder(String config) {
        String[] classes = {"cat", "dog", "cow", "hen", "pig"};
        String[] others = {"pig", "cow", "cat", "hen", "dog"};
        Checkpoint theirs = thirdParty(model(config, 1, classes), "CLASSES");
        Model<?> ours = model(config, 2, others);
        assertTrue(ours.initializeFrom(theirs).isComplete());
        Model<?> back = model(config, 3, classes);

        assertTrue(back.initializeFrom(thirdParty(ours, "classes")).isComplete());

        assertEquals(theirs.tensors(), Checkpoint.of(back, Map.of()).tensors());
        assertTrue(
                theirs.tensors().keySet().stream()
                        .filter(name -> isClassLayer(name))
                        .noneMatch(
                                name ->
                                        Arrays.equals(
                                                row(theirs, name, 0),
                                                row(Checkpoint.of(ours, Map.of()), name, 0))),
                "rows must have moved");
    }

    private static boolean isClassLayer(String name) {
        return name.matches(".*(retina_cls|fc_cls|conv_seg|mask_head.*conv_logits)\\.weight");
    }
}
