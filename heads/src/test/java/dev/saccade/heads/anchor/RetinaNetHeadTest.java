package dev.saccade.heads.anchor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.config.Configs;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.Inference;
import dev.saccade.heads.box.GtInstances;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.stream.Stream;

class RetinaNetHeadTest {

    private static final List<FeatureInfo> FEATURES =
            List.of(new FeatureInfo(8, 8), new FeatureInfo(8, 16));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private RetinaNetHead head;

    @BeforeEach
    void make() {
        head = head(8, 1);
        head.initialize(manager, 0);
    }

    @AfterEach
    void free() {
        manager.close();
    }

    private static RetinaNetHead head(int width, int convs, String... settings) {
        RetinaNetHead.Config config =
                Configs.of(
                        RetinaNetHead.Config.class,
                        "feat_channels=" + width,
                        "stacked_convs=" + convs,
                        "nms_pre=100");
        return new RetinaNetHead(Configs.with(config, settings), FEATURES, 2);
    }

    @Test
    void hasTheParametersOfThePaper() {
        RetinaNetHead coco =
                new RetinaNetHead(
                        Configs.of(RetinaNetHead.Config.class),
                        List.of(new FeatureInfo(256, 8)),
                        80);
        assertEquals(
                6_463_220,
                coco.namedParameters().values().stream().mapToLong(p -> p.getShape().size()).sum());
    }

    @Test
    void centerOffsetShiftsAnchors() {
        RetinaNetHead middle =
                new RetinaNetHead(
                        Configs.of(
                                RetinaNetHead.Config.class,
                                "feat_channels=8",
                                "stacked_convs=0",
                                "scales_per_octave=1",
                                "ratios=[1.0]",
                                "center_offset=0.5",
                                "nms_pre=100",
                                "nms={score_thr: 0.001, max_per_img: 10}"),
                        FEATURES,
                        1);
        middle.initialize(manager, 0);
        middle.train(false);
        NDArray cell = manager.zeros(new Shape(1, 8, 1, 1));
        FeaturePyramid cells = new FeaturePyramid(List.of(cell, cell));
        Instances found = Inference.predict(() -> middle.predict(cells, List.of(image()))).get(0);
        assertEquals(Boxes.of(0, 0, 20, 20, 0, 0, 40, 40), found.boxes());
    }

    static Stream<Instances> targets() {
        return Stream.of(
                Instances.empty(),
                Instances.groundTruth(Boxes.of(3, 3, 40, 44), 1),
                Instances.groundTruth(Boxes.of(20, 20, 20, 20), 0),
                Instances.groundTruth(Boxes.of(0, 0, 64, 48, 0, 0, 64, 48), 0, 1));
    }

    @ParameterizedTest
    @MethodSource("targets")
    void everyTermIsFiniteAndHasAGradient(Instances target) {
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            Losses losses =
                    head.losses(
                            pyramid(1),
                            List.of(image(), image()),
                            List.of(target, Instances.empty()));
            assertEquals(List.of("loss_cls", "loss_bbox"), List.copyOf(losses.terms().keySet()));
            losses.terms().values().forEach(term -> assertTrue(Float.isFinite(term.getFloat())));
            collector.backward(losses.total());
        }
        head.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            float norm = parameter.getArray().getGradient().norm().getFloat();
                            assertTrue(Float.isFinite(norm), name);
                        });
    }

    @Test
    void anchorsInsideACrowdAreNotTrained() {
        Instances object = Instances.groundTruth(Boxes.of(3, 3, 20, 24), 1);
        Instances beside = object.withIgnored(Boxes.of(30, 20, 64, 48));
        assertEquals(0, trained(-1, object) - trained(-1, beside));
        int inside = trained(0.5, object) - trained(0.5, beside);
        assertTrue(inside > 0, inside + " anchors");
    }

    private int trained(double ignoreIofThr, Instances objects) {
        RetinaNetHead careful = head(8, 1, "assigner.ignore_iof_thr=" + ignoreIofThr);
        careful.initialize(manager, 0);
        AnchorGrid grid = careful.grid(careful.apply(pyramid(1)));
        List<GtInstances> learned = GtInstances.of(manager, List.of(objects));
        return careful.targets(grid, List.of(image()), learned).levels().stream()
                .mapToInt(level -> (int) level.labelWeights().sum().getFloat())
                .sum();
    }

    @Test
    void softmaxHasABackgroundLogit() {
        RetinaNetHead.Config softmax =
                Configs.of(
                        RetinaNetHead.Config.class,
                        "feat_channels=8",
                        "stacked_convs=0",
                        "scales_per_octave=1",
                        "ratios=[1.0]",
                        "loss_cls={type: cross_entropy}",
                        "loss_bbox={type: giou}",
                        "reg_decoded_bbox=true",
                        "sampler={type: random, num: 16, pos_fraction: 0.5,"
                                + " add_gt_as_proposals: false}",
                        "nms_pre=100",
                        "nms={score_thr: 0.3, max_per_img: 10}");
        RetinaNetHead built = new RetinaNetHead(softmax, FEATURES, 2);
        built.initialize(manager, 0);
        assertEquals(3, built.apply(pyramid(1)).get(0).get(0).getShape().get(1));
        Instances object = Instances.groundTruth(Boxes.of(3, 3, 40, 44), 1);
        Losses losses =
                built.losses(pyramid(1), List.of(image(), image()), List.of(object, object));
        losses.terms().values().forEach(term -> assertTrue(Float.isFinite(term.getFloat())));
        built.train(false);
        Instances found =
                Inference.predict(() -> built.predict(pyramid(0), List.of(image(), image())))
                        .get(0);
        assertEquals(1f / 3, found.score(0), 1e-6f);
    }

    @Test
    void predictsNothingForNanFeatures() {
        head.train(false);
        for (Instances found :
                Inference.predict(
                        () -> head.predict(pyramid(Float.NaN), List.of(image(), image())))) {
            assertEquals(0, found.size());
        }
    }

    @Test
    void doesNotLeakNativeMemory() {
        head.train(false);
        FeaturePyramid pyramid = pyramid(1);
        int before = manager.getManagedArrays().size();
        Inference.predict(() -> head.predict(pyramid, List.of(image(), image())));
        assertEquals(before, manager.getManagedArrays().size());
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
