package dev.saccade.heads.roi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.Inference;
import dev.saccade.heads.segmentation.FusedSemanticHead;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

class HtcHeadTest {

    private static final Size SIZE = new Size(48, 64);
    private static final List<ImageInfo> IMAGES = List.of(ImageInfo.of(SIZE), ImageInfo.of(SIZE));
    private static final String WITHOUT_SEMANTIC = "semantic_head=null";

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private HtcHead head(String... settings) {
        HtcHead head = SmallHeads.htc(settings).build(SmallHeads.FEATURES, 2);
        head.initialize(manager, 0);
        return head;
    }

    @Test
    void hasTheParametersOfThePaper() {
        List<FeatureInfo> wide =
                Stream.of(4, 8, 16, 32, 64).map(stride -> new FeatureInfo(256, stride)).toList();
        FusedSemanticHead.Config semantic = Configs.of(FusedSemanticHead.Config.class);
        assertEquals(2_802_103, new FusedSemanticHead(semantic, wide).parameterCount());
        assertEquals(
                593_935 + 3 * 13_982_805 + 3 * 2_643_280 + 2 * 65_792 + 2_802_103,
                Configs.of(HtcHead.Config.class).build(wide, 80).parameterCount());
    }

    @Test
    void namesParametersAsMmdetection() {
        Set<String> names = head().namedParameters().keySet();
        assertTrue(
                names.containsAll(
                        List.of(
                                "roi_head.bbox_head.1.shared_fcs.1.weight",
                                "roi_head.mask_head.0.convs.0.conv.weight",
                                "roi_head.mask_head.1.conv_res.conv.weight",
                                "roi_head.semantic_head.lateral_convs.4.conv.weight",
                                "roi_head.semantic_head.convs.0.conv.bias",
                                "roi_head.semantic_head.conv_embedding.conv.weight",
                                "roi_head.semantic_head.conv_logits.bias")));
        assertFalse(names.contains("roi_head.mask_head.0.conv_res.conv.weight"));
        assertFalse(
                head("mask_info_flow=false").namedParameters().keySet().stream()
                        .anyMatch(name -> name.contains("conv_res")));
    }

    @Test
    void requiresLabelMapsOnlyWithASemanticBranch() {
        assertEquals(TargetKind.MASKS_AND_LABEL_MAPS, SmallHeads.htc().targets());
        assertEquals(3, SmallHeads.htc().semanticClasses());
        assertEquals(TargetKind.MASKS, SmallHeads.htc(WITHOUT_SEMANTIC).targets());
        List<Instances> none = List.of(Instances.empty(), Instances.empty());
        String message =
                assertThrows(SaccadeException.class, () -> head().losses(pyramid(1), IMAGES, none))
                        .getMessage();
        assertTrue(message.contains("semantic_head is trained on label maps"), message);
        Losses losses = head(WITHOUT_SEMANTIC).losses(pyramid(1), IMAGES, none);
        assertFalse(losses.terms().containsKey("loss_semantic_seg"));
    }

    @Test
    void rejectsFeaturesThatCannotBeAdded() {
        assertRefused("mask_head.conv_out_channels", "mask_head.conv_out_channels=4");
        assertRefused("semantic_head.conv_out_channels", "semantic_head.conv_out_channels=4");
        assertRefused("semantic_head.fusion_level", "semantic_head.fusion_level=5");
        assertRefused("semantic_roi_extractor.featmap_strides", "semantic_head.fusion_level=2");
        head("mask_head.conv_out_channels=4", "mask_info_flow=false");
    }

    private void assertRefused(String key, String setting) {
        String message =
                assertThrows(IllegalArgumentException.class, () -> head(setting)).getMessage();
        assertTrue(message.startsWith(key), message);
    }

    @Test
    void predictsMasks() {
        String message =
                assertThrows(SaccadeException.class, () -> SmallHeads.htc("mask_head=null"))
                        .getMessage();
        assertTrue(message.contains("expected a mask head"), message);
    }

    static Stream<Arguments> cases() {
        List<String[]> settings =
                List.of(
                        new String[0],
                        new String[] {WITHOUT_SEMANTIC},
                        new String[] {"interleaved=false"},
                        new String[] {"mask_info_flow=false", "semantic_fusion=[bbox]"},
                        new String[] {
                            "semantic_fusion=[mask]",
                            "semantic_head.fusion_level=0",
                            "semantic_roi_extractor.featmap_strides=[4]",
                            "semantic_head.loss_seg.avg_non_ignore=true"
                        });
        List<Instances> targets =
                List.of(
                        Instances.empty(),
                        object(Boxes.of(3, 3, 40, 44)),
                        object(Boxes.of(20, 20, 20, 40)),
                        object(Boxes.of(10, 10, 10.01f, 10.01f)));
        return settings.stream()
                .flatMap(each -> targets.stream().map(target -> Arguments.of(each, target)));
    }

    private static Instances object(Boxes box) {
        return Instances.groundTruth(box, 1)
                .withMasks(
                        List.of(
                                Rle.fromBox(
                                        SIZE, box.x1(0), box.y1(0), box.width(0), box.height(0))));
    }

    /** Fixed shapes as on a GPU: one slot per possible region. */
    @ParameterizedTest
    @MethodSource("cases")
    void fixedShapesGiveTheSameFiniteLossesAndGradients(String[] settings, Instances target) {
        FeaturePyramid pyramid = pyramid(1);
        List<Instances> targets = List.of(target, Instances.empty());
        Map<String, float[]> exact = trained(pyramid, targets, settings);
        Map<String, float[]> fixed =
                DynamicShapes.callWithout(() -> trained(pyramid, targets, settings));
        assertEquals(exact.keySet(), fixed.keySet());
        exact.forEach(
                (name, numbers) -> {
                    float most = 1;
                    for (float number : numbers) {
                        assertTrue(Float.isFinite(number), name);
                        most = Math.max(most, Math.abs(number));
                    }
                    assertArrayEquals(numbers, fixed.get(name), 1e-5f * most, name);
                });
    }

    @Test
    void trainsWithoutProposals() {
        Map<String, float[]> numbers =
                trained(
                        pyramid(1),
                        List.of(Instances.empty(), Instances.empty()),
                        "rpn_head.train_proposals.min_bbox_size=1000");
        assertEquals(0, numbers.get("s1.loss_mask")[0]);
        assertEquals(0, numbers.get("s1.loss_cls")[0]);
        assertTrue(numbers.get("loss_semantic_seg")[0] > 0);
    }

    /** With information flow, the mask loss of a stage also trains the mask heads before it. */
    @Test
    void maskGradientsReachEarlierStages() {
        for (boolean flows : new boolean[] {true, false}) {
            HtcHead head = head("mask_info_flow=" + flows, "stages[0].loss_weight=0");
            Map<String, float[]> numbers =
                    trained(
                            head,
                            pyramid(1),
                            List.of(object(Boxes.of(3, 3, 40, 44)), Instances.empty()));
            float[] gradient = numbers.get("roi_head.mask_head.0.convs.0.conv.weight");
            boolean learns = false;
            for (float number : gradient) {
                learns |= number != 0;
            }
            assertEquals(flows, learns);
        }
    }

    private Map<String, float[]> trained(
            FeaturePyramid pyramid, List<Instances> targets, String... settings) {
        return trained(head(settings), pyramid, targets);
    }

    /** Returns losses and gradients of weights and features. */
    private Map<String, float[]> trained(
            HtcHead head, FeaturePyramid pyramid, List<Instances> targets) {
        pyramid.levels().forEach(level -> level.setRequiresGradient(true));
        Map<String, float[]> numbers = new TreeMap<>();
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            Losses losses =
                    SampleRandom.call(
                            7,
                            0,
                            new long[] {1, 2},
                            () -> head.losses(pyramid, IMAGES, targets, labels()));
            losses.terms().forEach((name, loss) -> numbers.put(name, loss.toFloatArray()));
            losses.metrics().forEach((name, x) -> numbers.put(name, x.toFloatArray()));
            collector.backward(losses.total());
        }
        head.namedParameters()
                .forEach(
                        (name, parameter) ->
                                numbers.put(
                                        name, parameter.getArray().getGradient().toFloatArray()));
        for (int l = 0; l < pyramid.size(); l++) {
            NDArray gradient = pyramid.get(l).getGradient();
            numbers.put("level" + l, gradient.toFloatArray());
            gradient.muli(0);
        }
        return numbers;
    }

    /** Returns random label maps in which some pixels of one class are ignored. */
    private NDArray labels() {
        long[] labels = new long[Math.toIntExact(2 * SIZE.area())];
        Arrays.setAll(labels, i -> i % 64 < 20 ? LabelMap.IGNORE : i / 400 % 3);
        return manager.create(labels, new Shape(2, SIZE.height(), SIZE.width()));
    }

    @Test
    void ignoredLabelMapsGiveZeroLoss() {
        NDArray ignored =
                manager.full(
                        new Shape(2, SIZE.height(), SIZE.width()), LabelMap.IGNORE, DataType.INT64);
        for (boolean counted : new boolean[] {true, false}) {
            Losses losses =
                    head("semantic_head.loss_seg.avg_non_ignore=" + counted)
                            .losses(
                                    pyramid(1),
                                    IMAGES,
                                    List.of(Instances.empty(), Instances.empty()),
                                    ignored);
            assertEquals(0, losses.terms().get("loss_semantic_seg").getFloat());
        }
    }

    @Test
    void trainingReadsNothingAndInferenceReadsTwice() {
        assumeTrue(Kernels.status().loaded());
        HtcHead head = head();
        FeaturePyramid pyramid = pyramid(3);
        NDArray labels = labels();
        List<Instances> targets = List.of(object(Boxes.of(3, 3, 40, 44)), Instances.empty());
        HostTransfers training =
                HostTransfers.count(
                        () ->
                                DynamicShapes.callWithout(
                                        () -> head.losses(pyramid, IMAGES, targets, labels)));
        assertEquals(Map.of(), training.reads());
        head.train(false);
        List<Instances> exact = Inference.predict(() -> head.predict(pyramid, IMAGES));
        List<Instances> fixed = new ArrayList<>();
        HostTransfers inference =
                HostTransfers.count(
                        () ->
                                DynamicShapes.callWithout(
                                        () ->
                                                fixed.addAll(
                                                        Inference.predict(
                                                                () ->
                                                                        head.predict(
                                                                                pyramid,
                                                                                IMAGES)))));
        assertEquals(2, inference.reads().values().stream().mapToInt(Integer::intValue).sum());
        assertTrue(exact.get(0).size() > 0);
        for (int n = 0; n < exact.size(); n++) {
            assertArrayEquals(
                    exact.get(n).boxes().toArray(), fixed.get(n).boxes().toArray(), 1e-4f);
            assertEquals(exact.get(n).masks(), fixed.get(n).masks());
        }
    }

    @Test
    void averagesMasksOrUsesTheLastStage() {
        FeaturePyramid pyramid = pyramid(1);
        Boxes boxes = Boxes.of(3, 3, 40, 44, 0, 0, 9, 9, 5, 0, 30, 20);
        Rois rois = Rois.of(manager, boxes, 0, 1, 1);
        NDArray shown = manager.create(new long[] {0, 1, 1});
        for (boolean flows : new boolean[] {true, false}) {
            HtcHead head = head("mask_info_flow=" + flows);
            FeaturePyramid features = head.roiFeatures(pyramid);
            MaskHead mask = head.stages().get(0).mask().orElseThrow();
            NDArray logits = mask.apply(head.poolForMasks(features, rois));
            float[] first = mask.probabilities(logits, shown).toFloatArray();
            float[] second = head.masks().probabilities(features, rois, shown).toFloatArray();
            float[] mean =
                    head("mask_info_flow=" + flows, "average_masks=true")
                            .masks()
                            .probabilities(features, rois, shown)
                            .toFloatArray();
            assertNotEquals(first[0], second[0]);
            for (int i = 0; i < mean.length; i++) {
                assertEquals((first[i] + second[i]) / 2, mean[i], 1e-6f);
            }
        }
    }

    @Test
    void addsSemanticFeaturesToTheConfiguredBranches() {
        FeaturePyramid pyramid = pyramid(1);
        Rois rois = Rois.of(manager, Boxes.of(3, 3, 40, 44), new int[] {1});
        for (String wanted : List.of("bbox", "mask")) {
            HtcHead head = head("semantic_fusion=[" + wanted + "]");
            FeaturePyramid fused = head.roiFeatures(pyramid);
            HtcHead without = head(WITHOUT_SEMANTIC);
            NoGrad.call(
                    () -> {
                        NDArray boxes = head.poolForBoxes(fused, rois);
                        NDArray masks = head.poolForMasks(fused, rois);
                        boolean boxesAlike = boxes.allClose(without.poolForBoxes(pyramid, rois));
                        boolean masksAlike = masks.allClose(without.poolForMasks(pyramid, rois));
                        assertEquals(wanted.equals("mask"), boxesAlike);
                        assertEquals(wanted.equals("bbox"), masksAlike);
                        return null;
                    });
        }
    }

    @Test
    void predictsNothingForEmptyInputs() {
        HtcHead head = head("rpn_head.test_proposals.min_bbox_size=1000");
        head.train(false);
        Inference.predict(() -> head.predict(pyramid(1), IMAGES))
                .forEach(found -> assertEquals(0, found.size()));
        HtcHead other = head();
        other.train(false);
        Inference.predict(() -> other.predict(pyramid(Float.NaN), IMAGES))
                .forEach(found -> assertEquals(0, found.size()));
    }

    @Test
    void doesNotLeakNativeMemory() {
        HtcHead head = head();
        FeaturePyramid pyramid = pyramid(1);
        NDArray labels = labels();
        List<Instances> targets = List.of(object(Boxes.of(3, 3, 40, 44)), Instances.empty());
        int before = manager.getManagedArrays().size();
        Losses losses = Scope.losses(() -> head.losses(pyramid, IMAGES, targets, labels));
        new NDList(losses.terms().values()).close();
        new NDList(losses.metrics().values()).close();
        assertEquals(before, manager.getManagedArrays().size());
        head.train(false);
        Inference.predict(() -> head.predict(pyramid, IMAGES));
        List<FeaturePyramid> views = List.of(first(pyramid), first(pyramid));
        int withTta = manager.getManagedArrays().size();
        Inference.predict(() -> head.predictAugmented(views, IMAGES));
        assertEquals(withTta, manager.getManagedArrays().size());
    }

    private static FeaturePyramid first(FeaturePyramid both) {
        return new FeaturePyramid(both.levels().stream().map(level -> level.get("0:1")).toList());
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
