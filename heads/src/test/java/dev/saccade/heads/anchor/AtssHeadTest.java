package dev.saccade.heads.anchor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.Inference;
import dev.saccade.heads.loss.CenternessLoss;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

class AtssHeadTest {

    private static final List<FeatureInfo> FEATURES =
            List.of(new FeatureInfo(8, 8), new FeatureInfo(8, 16));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private AtssHead head(String... settings) {
        AtssHead head = new AtssHead(config(settings), FEATURES, 2);
        head.initialize(manager, 0);
        return head;
    }

    @Test
    void hasTheParametersOfThePaper() {
        List<FeatureInfo> five =
                List.of(8, 16, 32, 64, 128).stream().map(s -> new FeatureInfo(256, s)).toList();
        AtssHead coco = new AtssHead(Configs.of(AtssHead.Config.class), five, 80);
        assertEquals(8 * (589_824 + 512) + 85 * 2305 + 5, coco.parameterCount());
        assertTrue(coco.namedParameters().containsKey("bbox_head.cls_convs.3.gn.weight"));
        assertEquals(
                new Shape(), coco.namedParameters().get("bbox_head.scales.4.scale").getShape());
    }

    static Stream<Instances> targets() {
        return Stream.of(
                Instances.empty(),
                Instances.groundTruth(Boxes.of(3, 3, 40, 44), 1),
                Instances.groundTruth(Boxes.of(20, 20, 20, 20), 0),
                Instances.groundTruth(Boxes.of(-90, -90, 190, 150), 0),
                Instances.groundTruth(Boxes.of(0, 0, 64, 48, 0, 0, 64, 48), 0, 1));
    }

    @ParameterizedTest
    @MethodSource("targets")
    void everyTermIsFiniteAndHasAGradient(Instances target) {
        AtssHead head = head();
        isFinite(head, () -> losses(head, target));
        isFinite(head, () -> DynamicShapes.callWithout(() -> losses(head, target)));
    }

    private Losses losses(AtssHead head, Instances target) {
        return head.losses(
                pyramid(1), List.of(image(), image()), List.of(target, Instances.empty()));
    }

    private static void isFinite(AtssHead head, Supplier<Losses> step) {
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            Losses losses = step.get();
            assertEquals(
                    List.of("loss_cls", "loss_bbox", "loss_centerness"),
                    List.copyOf(losses.terms().keySet()));
            losses.terms().values().forEach(term -> assertTrue(Float.isFinite(term.getFloat())));
            collector.backward(losses.total());
        }
        head.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            NDArray norm = parameter.getArray().getGradient().norm();
                            assertTrue(Float.isFinite(norm.getFloat()), name);
                        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"norm_groups=0", "stacked_convs=0", "pred_kernel_size=1"})
    void keepsTheSizeOfItsLevels(String setting) {
        List<NDList> maps = head(setting).apply(pyramid(1));
        assertEquals(new Shape(2, 2, 6, 8), maps.get(0).get(0).getShape());
        assertEquals(new Shape(2, 4, 6, 8), maps.get(0).get(1).getShape());
        assertEquals(new Shape(2, 1, 3, 4), maps.get(1).get(2).getShape());
    }

    @Test
    void centernessIsOneAtTheCenterAndZeroOutside() {
        NDArray anchors =
                manager.create(new float[] {0, 0, 8, 8, 2, 0, 6, 8, -9, 0, 7, 8}, three());
        NDArray boxes = manager.create(new float[] {0, 0, 8, 8, 3, 0, 9, 8, 0, 0, 8, 8}, three());
        float[] found = CenternessLoss.targets(anchors, boxes).toFloatArray();
        assertEquals(1, found[0]);
        assertEquals(Math.sqrt(1 / 5.0), found[1], 1e-6);
        assertEquals(0, found[2]);
    }

    private static Shape three() {
        return new Shape(3, 4);
    }

    @Test
    void scoreThresholdIgnoresCenterness() {
        AtssHead head =
                head("score_thr=0.4", "nms={score_thr: 0, max_per_img: 10}", "stacked_convs=0");
        head.namedParameters().get("bbox_head.atss_cls.bias").getArray().set(new float[] {0, -9});
        head.namedParameters()
                .get("bbox_head.atss_centerness.bias")
                .getArray()
                .set(new float[] {-2});
        head.train(false);
        Instances found =
                Inference.predict(() -> head.predict(pyramid(0), List.of(image(), image()))).get(0);
        assertTrue(found.size() > 0);
        for (int i = 0; i < found.size(); i++) {
            assertEquals(0, found.label(i));
            assertEquals(0.5 / (1 + Math.exp(2)), found.score(i), 1e-6);
        }
    }

    @Test
    void dropsZeroAreaBoxesUnlessMinSizeIsNegative() {
        assertEquals(0, found("min_bbox_size=1"));
        int wide = found("min_bbox_size=0");
        assertTrue(wide > 0);
        assertTrue(found("min_bbox_size=-1") > wide);
    }

    /** Anchors of a tenth of a pixel; the last row and column lie outside. */
    private int found(String size) {
        AtssHead head =
                head(
                        "octave_base_scale=0.01",
                        "score_thr=0",
                        "nms={score_thr: 0, max_per_img: 500}",
                        size);
        head.train(false);
        ImageInfo narrow = ImageInfo.of(new Size(30, 44));
        return Inference.predict(() -> head.predict(pyramid(0), List.of(narrow, narrow)))
                .get(0)
                .size();
    }

    private static AtssHead.Config config(String... settings) {
        return Configs.with(
                Configs.of(
                        AtssHead.Config.class,
                        "feat_channels=8",
                        "stacked_convs=1",
                        "norm_groups=4",
                        "nms_pre=100"),
                settings);
    }

    @Test
    void predictsNothingForNanFeatures() {
        AtssHead head = head();
        head.train(false);
        for (Instances found :
                Inference.predict(
                        () -> head.predict(pyramid(Float.NaN), List.of(image(), image())))) {
            assertEquals(0, found.size());
        }
    }

    @Test
    void doesNotLeakNativeMemory() {
        AtssHead head = head();
        head.train(false);
        FeaturePyramid pyramid = pyramid(1);
        int before = manager.getManagedArrays().size();
        Inference.predict(() -> head.predict(pyramid, List.of(image(), image())));
        assertEquals(before, manager.getManagedArrays().size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"norm_groups=3", "pred_kernel_size=2", "reg_decoded_bbox=false"})
    void rejectsIncompatibleFeatures(String setting) {
        assertThrows(
                SaccadeException.class,
                () ->
                        Configs.of(
                                AtssHead.Config.class,
                                "feat_channels=8",
                                "norm_groups=4",
                                setting));
    }

    private FeaturePyramid pyramid(float scale) {
        NDArray fine = manager.randomNormal(new Shape(2, 8, 6, 8)).mul(scale);
        NDArray coarse = manager.randomNormal(new Shape(2, 8, 3, 4)).mul(scale);
        return new FeaturePyramid(List.of(fine, coarse));
    }

    private static ImageInfo image() {
        return ImageInfo.of(new Size(48, 64));
    }
}
