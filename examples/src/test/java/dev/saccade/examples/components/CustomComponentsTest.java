package dev.saccade.examples.components;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.ModelConfig;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Every component of a detector can be custom: a class, an entry in {@link CustomComponents} and a
 * YAML key.
 */
class CustomComponentsTest {

    private static final Size SIZE = new Size(64, 96);

    private static final String RETINANET = "type: retinanet, feat_channels: 8, stacked_convs: 1";

    private static final String MASK_RCNN =
            "type: mask_rcnn, rpn_head: {feat_channels: 8%s}, bbox_head: {fc_out_channels: 8%s},"
                    + " mask_head: {num_convs: 1, conv_out_channels: 8}%s";

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private static ModelConfig config(String head) {
        String yaml =
                String.format(
                        Locale.ROOT,
                        """
                backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
                neck: {type: fpn, out_channels: 8, num_outs: 5}
                head: {%s}
                """,
                        head);
        return Configs.bind(ConfigFile.parse(yaml, "test"), ModelConfig.class);
    }

    private DetectionHead head(String head) {
        DetectionModel model = new DetectionModel(config(head), List.of("leaf", "nut"));
        model.initialize(manager, 1);
        return model.head();
    }

    private FeaturePyramid pyramid() {
        List<NDArray> levels = new ArrayList<>();
        for (int stride = 4; stride <= 64; stride *= 2) {
            Shape shape = new Shape(1, 8, 64 / stride, (96 + stride - 1) / stride);
            levels.add(
                    manager.arange((int) shape.size())
                            .toType(DataType.FLOAT32, false)
                            .sin()
                            .reshape(shape));
        }
        return new FeaturePyramid(levels);
    }

    private static Instances objects() {
        Boxes boxes = Boxes.of(10, 12, 40, 50, 50, 8, 90, 36);
        return Instances.groundTruth(boxes, 0, 1)
                .withMasks(
                        List.of(
                                Rle.fromBox(SIZE, 10, 12, 30, 38),
                                Rle.fromBox(SIZE, 50, 8, 40, 28)));
    }

    private Losses losses(DetectionHead head, Instances objects) {
        List<ImageInfo> images = List.of(ImageInfo.of(SIZE));
        return SampleRandom.call(
                1, 1, new long[] {1}, () -> head.losses(pyramid(), images, List.of(objects)));
    }

    private float loss(String head, String term) {
        return losses(head(head), objects()).terms().get(term).getFloat();
    }

    /** Checks that all parameters are trained and that predictions can be written. */
    private void learnsAndPredicts(String yaml) {
        DetectionHead head = head(yaml);
        List<Parameter> learned =
                head.namedParameters().values().stream().filter(p -> !Module.isBuffer(p)).toList();
        List<NDArray> gradients =
                Autograd.gradients(
                        () -> losses(head, objects()).total(),
                        learned.stream().map(Parameter::getArray).toList());
        gradients.forEach(gradient -> assertTrue(Float.isFinite(gradient.norm().getFloat())));
        assertTrue(gradients.stream().anyMatch(gradient -> gradient.norm().getFloat() > 0));
        losses(head, Instances.empty())
                .terms()
                .forEach((term, loss) -> assertTrue(Float.isFinite(loss.getFloat()), term));
        head.train(false);
        assertEquals(1, head.predict(pyramid(), List.of(ImageInfo.of(SIZE))).size());
        ModelConfig config = config(yaml);
        assertEquals(
                config,
                Configs.bind(
                        ConfigFile.parse(ConfigWriter.yaml(Configs.unbind(config)), "again"),
                        ModelConfig.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nms: {type: calibrated, exponent: 0.8, score_thr: 0}",
                "nms: {type: soft_nms, score_thr: 0}"
            })
    void selectionsWorkWithEveryHead(String selection) {
        learnsAndPredicts(RETINANET + ", " + selection);
        learnsAndPredicts(String.format(Locale.ROOT, MASK_RCNN, "", "", ", " + selection));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loss_bbox: {type: l2, loss_weight: 0.5}",
                "loss_cls: {type: brier}",
                "assigner: {type: nearest, topk: 2}",
                "sampler: {type: first, num: 10}",
                "bbox_coder: {type: corner}",
            })
    void customComponentsWorkInYaml(String part) {
        learnsAndPredicts(RETINANET + ", " + part);
        String term = part.startsWith("loss_cls") ? "loss_cls" : "loss_bbox";
        assertNotEquals(loss(RETINANET, term), loss(RETINANET + ", " + part, term));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loss_bbox: {type: l2}",
                "loss_cls: {type: brier}",
                "assigner: {type: nearest}",
                "sampler: {type: first}",
                "bbox_coder: {type: corner}",
            })
    void rpnUsesComponent(String part) {
        learnsAndPredicts(String.format(Locale.ROOT, MASK_RCNN, ", " + part, "", ""));
    }

    @Test
    void roiHeadUsesComponent() {
        learnsAndPredicts(
                String.format(
                        Locale.ROOT,
                        MASK_RCNN,
                        "",
                        ", loss_bbox: {type: l2}, bbox_coder: {type: corner}",
                        ", assigner: {type: nearest}, sampler: {type: first}"));
    }

    @Test
    void customLossWeightIsUsed() {
        float once = loss(RETINANET + ", loss_bbox: {type: l2}", "loss_bbox");
        float thrice = loss(RETINANET + ", loss_bbox: {type: l2, loss_weight: 3}", "loss_bbox");
        assertEquals(3 * once, thrice, 1e-5f * thrice);
    }

    @Test
    void customDenseHeadAddsBranch() {
        String yaml =
                "type: centerness, feat_channels: 8, stacked_convs: 1,"
                        + " nms: {type: nms, score_thr: 0}";
        learnsAndPredicts(yaml);
        Map<String, NDArray> terms = losses(head(yaml), objects()).terms();
        assertEquals(Set.of("loss_cls", "loss_bbox", "loss_centerness"), terms.keySet());
        assertTrue(terms.get("loss_centerness").getFloat() > 0);
        DetectionHead head = head(yaml);
        head.train(false);
        List<ImageInfo> images = List.of(ImageInfo.of(SIZE));
        Instances found = head.predict(pyramid(), images).get(0);
        // An untrained head predicts 0.01 for each class and 0.5 for the centerness.
        assertEquals(0.005f, found.score(0), 0.002f);
        assertFalse(found.boxes().isEmpty());
        assertEquals(found.boxes(), head.predictAugmented(List.of(pyramid()), images).boxes());
    }
}
