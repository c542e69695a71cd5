package dev.saccade.heads.roi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.config.Configs;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.Inference;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.Rows;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

class TwoStageHeadTest {

    private static final Size SIZE = new Size(48, 64);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private TwoStageHead maskRcnn(String... settings) {
        return initialized(SmallHeads.maskRcnn(settings).build(SmallHeads.FEATURES, 2));
    }

    private TwoStageHead cascade() {
        return initialized(SmallHeads.cascade().build(SmallHeads.FEATURES, 2));
    }

    private TwoStageHead initialized(TwoStageHead head) {
        head.initialize(manager, 0);
        return head;
    }

    @Test
    void hasTheParametersOfThePapers() {
        List<FeatureInfo> wide =
                Stream.of(4, 8, 16, 32, 64).map(stride -> new FeatureInfo(256, stride)).toList();
        assertEquals(593_935, new RpnHead(Configs.of(RpnHead.Config.class), wide).parameterCount());
        BoxHead.Config shared2fc = Configs.of(BoxHead.Config.class);
        assertEquals(14_306_705, new BoxHead(shared2fc, 256, 7, 80).parameterCount());
        BoxHead.Config agnostic =
                Configs.of(
                        BoxHead.Config.class,
                        "bbox_coder={type: delta_xywh}",
                        "reg_class_agnostic=true");
        assertEquals(13_982_805, new BoxHead(agnostic, 256, 7, 80).parameterCount());
        BoxHead.Config shared4conv1fc = Configs.of(RoiStage.Config.class).bboxHead();
        assertEquals(15_618_449, new BoxHead(shared4conv1fc, 256, 7, 80).parameterCount());
        MaskHead.Config mask = Configs.of(MaskHead.Config.class);
        assertEquals(2_643_280, new MaskHead(mask, 256, 80, false).parameterCount());
        assertEquals(
                593_935 + 14_306_705 + 2_643_280,
                Configs.of(MaskRcnnHead.Config.class).build(wide, 80).parameterCount());
        assertEquals(
                593_935 + 3 * (15_618_449 + 2_643_280),
                Configs.of(CascadeMaskRcnnHead.Config.class).build(wide, 80).parameterCount());
    }

    @Test
    void namesParametersAsMmdetection() {
        assertTrue(
                maskRcnn()
                        .namedParameters()
                        .keySet()
                        .containsAll(
                                List.of(
                                        "rpn_head.rpn_conv.weight",
                                        "rpn_head.rpn_cls.bias",
                                        "rpn_head.rpn_reg.bias",
                                        "roi_head.bbox_head.shared_fcs.1.weight",
                                        "roi_head.bbox_head.fc_cls.weight",
                                        "roi_head.bbox_head.fc_reg.bias",
                                        "roi_head.mask_head.convs.0.conv.weight",
                                        "roi_head.mask_head.upsample.weight",
                                        "roi_head.mask_head.conv_logits.bias")));
        assertTrue(
                cascade()
                        .namedParameters()
                        .keySet()
                        .containsAll(
                                List.of(
                                        "roi_head.bbox_head.1.shared_convs.0.conv.weight",
                                        "roi_head.bbox_head.1.shared_convs.0.bn.running_var",
                                        "roi_head.bbox_head.0.shared_fcs.0.weight",
                                        "roi_head.mask_head.1.upsample.bias")));
    }

    static Stream<Arguments> targets() {
        Boxes crowd = crowd();
        return Stream.of(
                        Instances.empty(),
                        objects(Boxes.of(3, 3, 40, 44), 1),
                        objects(Boxes.of(20, 20, 20, 40, 5, 9, 30, 9), 0, 1),
                        objects(Boxes.of(10, 10, 10.01f, 10.01f), 0),
                        objects(Boxes.of(0, 0, 64, 48, 0, 0, 64, 48), 0, 1),
                        objects(crowd, new int[crowd.size()]))
                .flatMap(
                        target ->
                                Stream.of(Arguments.of(target, true), Arguments.of(target, false)));
    }

    private static Boxes crowd() {
        float[] boxes = new float[4 * 500];
        for (int i = 0; i < 500; i++) {
            boxes[4 * i] = i % 25 * 2;
            boxes[4 * i + 1] = i / 25 * 2;
            boxes[4 * i + 2] = boxes[4 * i] + 4;
            boxes[4 * i + 3] = boxes[4 * i + 1] + 6;
        }
        return Boxes.of(boxes);
    }

    private static Instances objects(Boxes boxes, int... labels) {
        return Instances.groundTruth(boxes, labels)
                .withMasks(
                        IntStream.range(0, boxes.size())
                                .mapToObj(
                                        i ->
                                                Rle.fromBox(
                                                        SIZE,
                                                        boxes.x1(i),
                                                        boxes.y1(i),
                                                        boxes.width(i),
                                                        boxes.height(i)))
                                .toList());
    }

    @ParameterizedTest
    @MethodSource("targets")
    void everyTermIsFiniteAndEveryParameterHasAGradient(Instances target, boolean isCascade) {
        TwoStageHead head = isCascade ? cascade() : maskRcnn();
        learns(head, pyramid(1), List.of(target, Instances.empty()), ImageInfo.of(SIZE));
    }

    @Test
    void trainsOnImagesWithoutObjects() {
        learns(
                cascade(),
                pyramid(1),
                List.of(Instances.empty(), Instances.empty()),
                ImageInfo.of(SIZE));
    }

    @Test
    void trainsOnAnImageOfOnePixel() {
        Size pixel = new Size(1, 1);
        NDArray cell = manager.randomNormal(new Shape(1, 8, 1, 1));
        FeaturePyramid pyramid = new FeaturePyramid(List.of(cell, cell, cell, cell, cell));
        Instances one =
                Instances.groundTruth(Boxes.of(0, 0, 1, 1), 0)
                        .withMasks(List.of(Rle.fromBox(pixel, 0, 0, 1, 1)));
        for (Instances target : List.of(one, Instances.empty())) {
            learns(maskRcnn(), pyramid, List.of(target), ImageInfo.of(pixel));
            learns(cascade(), pyramid, List.of(target), ImageInfo.of(pixel));
        }
    }

    @Test
    void centerOffsetShiftsProposalAnchors() {
        RpnHead.Config corner =
                SmallHeads.rpn("ratios=[1.0]", "center_offset=0.5", "allowed_border=0");
        RpnHead rpn = new RpnHead(corner, SmallHeads.FEATURES.subList(0, 2));
        rpn.initialize(manager, 0);
        NDArray cell = manager.zeros(new Shape(1, 8, 1, 1));
        assertEquals(
                Boxes.of(-14, -14, 18, 18, -28, -28, 36, 36),
                Rows.boxes(rpn.grid(rpn.apply(new FeaturePyramid(List.of(cell, cell)))).anchors()));
    }

    @Test
    void trainsWithoutProposals() {
        TwoStageHead head =
                maskRcnn(
                        "rpn_head.reg_decoded_bbox=true",
                        "rpn_head.allowed_border=0",
                        "rpn_head.train_proposals.min_bbox_size=1000");
        List<Instances> empty = List.of(Instances.empty(), Instances.empty());
        Losses losses = learns(head, pyramid(1), empty, ImageInfo.of(SIZE));
        assertEquals(0, losses.terms().get("loss_cls").getFloat(), 1e-9f);
        assertEquals(0, losses.terms().get("loss_mask").getFloat(), 1e-9f);
    }

    private Losses learns(
            TwoStageHead head, FeaturePyramid pyramid, List<Instances> targets, ImageInfo image) {
        Losses losses;
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            losses = head.losses(pyramid, targets.stream().map(t -> image).toList(), targets);
            boolean isCascade = head instanceof CascadeMaskRcnnHead;
            assertEquals(isCascade ? 8 : 5, losses.terms().size());
            losses.terms()
                    .forEach((name, term) -> assertTrue(Float.isFinite(term.getFloat()), name));
            collector.backward(losses.total());
        }
        head.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (!name.contains("running")) {
                                NDArray gradient = parameter.getArray().getGradient();
                                assertTrue(Float.isFinite(gradient.norm().getFloat()), name);
                            }
                        });
        return losses;
    }

    /** Fixed shapes as on a GPU: one slot per possible region. */
    @ParameterizedTest
    @MethodSource("targets")
    void fixedShapesGiveTheSameLossesAndGradients(Instances target, boolean isCascade) {
        FeaturePyramid pyramid = pyramid(1);
        List<Instances> targets = List.of(target, Instances.empty());
        Map<String, float[]> exact = trained(isCascade, pyramid, targets);
        Map<String, float[]> fixed =
                DynamicShapes.callWithout(() -> trained(isCascade, pyramid, targets));
        assertEquals(exact.keySet(), fixed.keySet());
        exact.forEach((name, x) -> assertArrayEquals(x, fixed.get(name), closeTo(x), name));
    }

    private static float closeTo(float[] numbers) {
        float most = 1;
        for (float number : numbers) {
            most = Math.max(most, Math.abs(number));
        }
        return 1e-5f * most;
    }

    /** Returns losses, gradients of weights and features, and running statistics. */
    private Map<String, float[]> trained(
            boolean isCascade, FeaturePyramid pyramid, List<Instances> targets) {
        TwoStageHead head = isCascade ? cascade() : maskRcnn();
        pyramid.levels().forEach(level -> level.setRequiresGradient(true));
        Map<String, float[]> numbers = new TreeMap<>();
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            List<ImageInfo> images = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE));
            Losses losses =
                    SampleRandom.call(
                            7, 0, new long[] {1, 2}, () -> head.losses(pyramid, images, targets));
            losses.terms().forEach((name, loss) -> numbers.put(name, loss.toFloatArray()));
            losses.metrics().forEach((name, x) -> numbers.put(name, x.toFloatArray()));
            collector.backward(losses.total());
        }
        head.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            NDArray array = parameter.getArray();
                            NDArray number = name.contains("running") ? array : array.getGradient();
                            numbers.put(name, number.toFloatArray());
                        });
        for (int l = 0; l < pyramid.size(); l++) {
            NDArray gradient = pyramid.get(l).getGradient();
            numbers.put("level" + l, gradient.toFloatArray());
            gradient.muli(0);
        }
        return numbers;
    }

    @Test
    void trainingReadsNothingOnTheHost() {
        assumeTrue(Kernels.status().loaded());
        List<Instances> targets =
                List.of(objects(Boxes.of(3, 3, 40, 44, 20, 5, 60, 30), 1, 0), Instances.empty());
        List<ImageInfo> images = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE));
        for (TwoStageHead head : List.of(maskRcnn(), cascade())) {
            FeaturePyramid pyramid = pyramid(1);
            HostTransfers transfers =
                    readsInFixedShapes(() -> head.losses(pyramid, images, targets));
            assertEquals(Map.of(), transfers.reads());
        }
    }

    @Test
    void inferenceReadsObjectsAndMasksOnceEach() {
        List<ImageInfo> images = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE).flipHorizontal());
        for (TwoStageHead head : List.of(maskRcnn(), cascade())) {
            head.train(false);
            FeaturePyramid pyramid = pyramid(3);
            List<Instances> exact = Inference.predict(() -> head.predict(pyramid, images));
            List<Instances> fixed = new ArrayList<>();
            HostTransfers transfers =
                    readsInFixedShapes(
                            () ->
                                    fixed.addAll(
                                            Inference.predict(
                                                    () -> head.predict(pyramid, images))));
            assertEquals(2, sum(transfers.reads()), transfers.reads().toString());
            assertTrue(exact.get(0).size() > 0);
            for (int n = 0; n < images.size(); n++) {
                assertEquals(exact.get(n).size(), fixed.get(n).size());
                assertArrayEquals(exact.get(n).labels(), fixed.get(n).labels());
                assertArrayEquals(
                        exact.get(n).boxes().toArray(), fixed.get(n).boxes().toArray(), 1e-4f);
                assertEquals(exact.get(n).masks(), fixed.get(n).masks());
            }
        }
    }

    private static int sum(Map<String, Integer> reads) {
        return reads.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static HostTransfers readsInFixedShapes(Supplier<?> body) {
        return HostTransfers.count(() -> DynamicShapes.callWithout(body));
    }

    @Test
    void namesLossesAsMmdetection() {
        List<Instances> targets = List.of(Instances.empty(), Instances.empty());
        List<ImageInfo> images = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE));
        Losses one = maskRcnn().losses(pyramid(1), images, targets);
        assertEquals(
                List.of("loss_rpn_cls", "loss_rpn_bbox", "loss_cls", "loss_bbox", "loss_mask"),
                List.copyOf(one.terms().keySet()));
        assertEquals(List.of("acc"), List.copyOf(one.metrics().keySet()));
        Losses two = cascade().losses(pyramid(1), images, targets);
        assertTrue(two.terms().keySet().containsAll(List.of("s0.loss_cls", "s1.loss_mask")));
        TwoStageHead boxesOnly =
                initialized(SmallHeads.maskRcnn().boxes().build(SmallHeads.FEATURES, 2));
        Losses boxes = boxesOnly.losses(pyramid(1), images, targets);
        assertEquals(4, boxes.terms().size());
    }

    @Test
    void samplesTheSameRegionsForTheSameImageIds() {
        TwoStageHead head = maskRcnn();
        FeaturePyramid pyramid = pyramid(1);
        Instances target = objects(Boxes.of(3, 3, 40, 44, 20, 5, 60, 30), 1, 0);
        float[] losses = new float[3];
        for (int i = 0; i < 3; i++) {
            losses[i] =
                    SampleRandom.call(
                            7,
                            i / 2,
                            new long[] {11, 12},
                            () ->
                                    head.losses(
                                                    pyramid,
                                                    List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE)),
                                                    List.of(target, Instances.empty()))
                                            .terms()
                                            .get("loss_cls")
                                            .getFloat());
        }
        assertEquals(losses[0], losses[1]);
        assertNotEquals(losses[0], losses[2]);
    }

    @Test
    void predictsMasksOfTheSizeOfTheOriginalImage() {
        Size original = new Size(30, 41);
        ImageInfo image =
                ImageInfo.of(original).resized(new Size(47, 64), 64f / 41, 47f / 30).padded(SIZE);
        for (TwoStageHead head : List.of(maskRcnn(), cascade())) {
            head.train(false);
            List<Instances> found =
                    Inference.predict(() -> head.predict(pyramid(3), List.of(image, image)));
            assertEquals(2, found.size());
            assertTrue(found.get(0).size() > 0);
            for (Instances objects : found) {
                assertEquals(objects.size(), objects.masks().size());
                objects.masks().forEach(mask -> assertEquals(original, mask.size()));
            }
        }
    }

    @Test
    void predictionDoesNotDependOnTheBatch() {
        TwoStageHead head = cascade();
        head.train(false);
        FeaturePyramid both = pyramid(3);
        FeaturePyramid second =
                new FeaturePyramid(both.levels().stream().map(level -> level.get("1:2")).toList());
        ImageInfo image = ImageInfo.of(SIZE);
        Instances together =
                Inference.predict(() -> head.predict(both, List.of(image, image))).get(1);
        Instances alone = Inference.predict(() -> head.predict(second, List.of(image))).get(0);
        assertEquals(alone.size(), together.size());
        assertEquals(List.copyOf(alone.masks()), List.copyOf(together.masks()));
    }

    @Test
    void predictsNothingWithoutProposals() {
        TwoStageHead head = maskRcnn("rpn_head.test_proposals.min_bbox_size=1000");
        Instances found =
                Inference.predict(() -> head.predict(pyramid(1), List.of(ImageInfo.of(SIZE))))
                        .get(0);
        assertEquals(0, found.size());
    }

    @Test
    void predictsNothingForNanFeatures() {
        for (TwoStageHead head : List.of(maskRcnn(), cascade())) {
            head.train(false);
            List<ImageInfo> images = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE));
            for (Instances found :
                    Inference.predict(() -> head.predict(pyramid(Float.NaN), images))) {
                assertEquals(0, found.size());
            }
        }
    }

    @Test
    void doesNotLeakNativeMemory() {
        TwoStageHead head = cascade();
        FeaturePyramid pyramid = pyramid(1);
        List<ImageInfo> images = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE));
        Instances target = objects(Boxes.of(3, 3, 40, 44), 1);
        int before = manager.getManagedArrays().size();
        Losses losses = Scope.losses(() -> head.losses(pyramid, images, List.of(target, target)));
        new NDList(losses.terms().values()).close();
        new NDList(losses.metrics().values()).close();
        assertEquals(before, manager.getManagedArrays().size());
        head.train(false);
        Inference.predict(() -> head.predict(pyramid, images));
        assertEquals(before, manager.getManagedArrays().size());
    }

    private FeaturePyramid pyramid(float scale) {
        int[][] grids = {{12, 16}, {6, 8}, {3, 4}, {2, 2}, {1, 1}};
        List<NDArray> levels = new ArrayList<>();
        for (int[] grid : grids) {
            levels.add(manager.randomNormal(new Shape(2, 8, grid[0], grid[1])).mul(scale));
        }
        return new FeaturePyramid(levels);
    }
}
