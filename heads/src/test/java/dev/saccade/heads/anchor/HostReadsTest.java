package dev.saccade.heads.anchor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.Inference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Checks that dense heads read nothing on the host, with the same results. */
class HostReadsTest {

    private static final List<FeatureInfo> FEATURES =
            List.of(new FeatureInfo(8, 8), new FeatureInfo(8, 16));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    static Stream<AnchorHead> heads() {
        return Stream.of(
                retinaNet(),
                retinaNet(
                        "loss_bbox={type: giou}",
                        "reg_decoded_bbox=true",
                        "assigner={type: max_iou, ignore_iof_thr: 0.5}",
                        "sampler={type: random, num: 16, pos_fraction: 0.5}"),
                retinaNet("loss_cls={type: cross_entropy}"),
                atss(),
                atss("assigner={type: atss, topk: 3, ignore_iof_thr: 0.5}", "allowed_border=0"),
                atss("assigner={type: max_iou}", "loss_bbox={type: ciou}", "norm_groups=0"),
                rpn(),
                rpn("allowed_border=0", "test_proposals.min_bbox_size=3"));
    }

    private static AnchorHead retinaNet(String... settings) {
        RetinaNetHead.Config config =
                Configs.of(
                        RetinaNetHead.Config.class,
                        "feat_channels=8",
                        "stacked_convs=0",
                        "nms_pre=60",
                        "nms={score_thr: 0.01, max_per_img: 20}");
        return new RetinaNetHead(Configs.with(config, settings), FEATURES, 2);
    }

    private static AnchorHead atss(String... settings) {
        AtssHead.Config config =
                Configs.of(
                        AtssHead.Config.class,
                        "feat_channels=8",
                        "stacked_convs=1",
                        "norm_groups=4",
                        "octave_base_scale=2",
                        "nms_pre=60",
                        "nms={score_thr: 0.005, max_per_img: 20}");
        return new AtssHead(Configs.with(config, settings), FEATURES, 2);
    }

    private static AnchorHead rpn(String... settings) {
        RpnHead.Config config =
                Configs.of(
                        RpnHead.Config.class,
                        "feat_channels=8",
                        "scales=[2.0]",
                        "sampler={type: random, num: 24, pos_fraction: 0.5}",
                        "test_proposals={nms_pre: 40, max_per_img: 30}");
        return new RpnHead(Configs.with(config, settings), FEATURES);
    }

    @ParameterizedTest
    @MethodSource("heads")
    void trainingWithoutHostReadsGivesTheSameGradients(AnchorHead head) {
        head.initialize(manager, 0);
        FeaturePyramid pyramid = pyramid();
        Map<String, float[]> exact = new LinkedHashMap<>();
        learn(head, pyramid, exact);
        Map<String, float[]> fixed = new LinkedHashMap<>();
        HostTransfers transfers = DynamicShapes.callWithout(() -> learn(head, pyramid, fixed));
        assertEquals(Map.of(), transfers.reads());
        assertEquals(exact.keySet(), fixed.keySet());
        exact.forEach((name, values) -> assertArrayEquals(values, fixed.get(name), 1e-6f, name));
    }

    /**
     * Adds losses and gradients to {@code learned}; returns the host transfers of the forward pass.
     */
    private static HostTransfers learn(
            AnchorHead head, FeaturePyramid pyramid, Map<String, float[]> learned) {
        HostTransfers[] transfers = new HostTransfers[1];
        Losses[] losses = new Losses[1];
        Supplier<Losses> step = () -> head.losses(pyramid, images(), objects());
        Runnable forward = () -> losses[0] = SampleRandom.call(1, 0, new long[] {5, 6, 7}, step);
        NDList parameters = new NDList();
        head.namedParameters().values().forEach(each -> parameters.add(each.getArray()));
        NDList gradients =
                Autograd.gradients(
                        () -> {
                            transfers[0] = HostTransfers.count(forward);
                            losses[0]
                                    .terms()
                                    .forEach((term, x) -> learned.put(term, x.toFloatArray()));
                            return losses[0].total();
                        },
                        parameters);
        List<String> names = List.copyOf(head.namedParameters().keySet());
        for (int i = 0; i < names.size(); i++) {
            learned.put(names.get(i), gradients.get(i).toFloatArray());
        }
        return transfers[0];
    }

    @ParameterizedTest
    @MethodSource("heads")
    void predictionReadsOnceWithTheSameDetections(AnchorHead head) {
        assumeTrue(Kernels.status().loaded(), "portable suppression is in Java");
        head.initialize(manager, 0);
        head.train(false);
        FeaturePyramid pyramid = pyramid();
        List<Instances> exact = Inference.predict(() -> head.predict(pyramid, images()));
        HostTransfers transfers =
                HostTransfers.count(
                        () -> {
                            List<Instances> fixed =
                                    DynamicShapes.callWithout(
                                            () ->
                                                    Inference.predict(
                                                            () -> head.predict(pyramid, images())));
                            assertEquals(exact.toString(), fixed.toString());
                        });
        assertEquals(List.of(1), List.copyOf(transfers.reads().values()));
    }

    private FeaturePyramid pyramid() {
        manager.getEngine().setRandomSeed(4);
        NDArray fine = manager.randomNormal(new Shape(3, 8, 6, 8));
        NDArray coarse = manager.randomNormal(new Shape(3, 8, 3, 4));
        return new FeaturePyramid(List.of(fine, coarse));
    }

    /** An image as large as the batch, a smaller one, and a flipped one. */
    private static List<ImageInfo> images() {
        ImageInfo whole = ImageInfo.of(new Size(48, 64));
        return List.of(
                whole,
                ImageInfo.of(new Size(30, 40)),
                whole.resized(whole.size(), 2, 1).flipHorizontal());
    }

    private static List<Instances> objects() {
        Instances two =
                Instances.groundTruth(Boxes.of(3, 3, 40, 44, 10, 10, 22, 26), 1, 0)
                        .withIgnored(Boxes.of(30, 20, 64, 48));
        return List.of(two, Instances.empty(), Instances.groundTruth(Boxes.of(0, 0, 30, 30), 1));
    }
}
