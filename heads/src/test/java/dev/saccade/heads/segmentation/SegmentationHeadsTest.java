package dev.saccade.heads.segmentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

class SegmentationHeadsTest {

    private static final int CLASSES = 5;
    private static final List<FeatureInfo> FEATURES = features(4, 6, 8, 10);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private static List<FeatureInfo> features(int... channels) {
        List<FeatureInfo> features = new ArrayList<>();
        for (int each : channels) {
            features.add(new FeatureInfo(each, 4 << features.size()));
        }
        return features;
    }

    @ParameterizedTest
    @CsvSource({
        "96, 192, 384, 768, 31497366, 923798",
        "128, 256, 512, 1024, 33315990, 1218710",
        "64, 128, 320, 512, 29711510, 776342",
        "32, 64, 160, 256, 27876502, 407702",
    })
    void haveTheParametersOfTheOriginals(
            int c2, int c3, int c4, int c5, long uperNet, long auxiliary) {
        List<FeatureInfo> features = features(c2, c3, c4, c5);
        assertEquals(
                uperNet,
                Configs.of(UperNetHead.Config.class).build(features, 150).parameterCount());
        assertEquals(
                auxiliary, Configs.of(FcnHead.Config.class).build(features, 150).parameterCount());
        assertEquals(
                1_643_158,
                Configs.of(SemanticFpnHead.Config.class)
                        .build(features(256, 256, 256, 256), 150)
                        .parameterCount());
    }

    static UperNetHead.Config uperNet(Norm norm) {
        return Configs.of(
                UperNetHead.Config.class,
                "channels=8",
                "dropout_ratio=0.5",
                "norm=" + norm.name().toLowerCase(Locale.ROOT),
                WEIGHTED);
    }

    private static final String WEIGHTED =
            "loss_decode={loss_weight: 0.4, class_weight: [1.0, 2.0, 0.5, 1.0, 1.0],"
                    + " avg_non_ignore: true}";

    private static FcnHead.Config fcn(String... settings) {
        FcnHead.Config small = Configs.of(FcnHead.Config.class, "channels=8", "norm=bn", WEIGHTED);
        return Configs.with(small, settings);
    }

    private static SemanticFpnHead.Config semanticFpn(String... settings) {
        SemanticFpnHead.Config small =
                Configs.of(SemanticFpnHead.Config.class, "channels=8", WEIGHTED);
        return Configs.with(small, settings);
    }

    static Stream<SegmentationHead.Config> heads() {
        return Stream.of(
                uperNet(Norm.SYNC_BN),
                uperNet(Norm.NONE),
                Configs.of(
                        UperNetHead.Config.class,
                        "in_index=[1, 3]",
                        "pool_scales=[]",
                        "channels=8",
                        "dropout_ratio=0",
                        "norm=bn",
                        "align_corners=true"),
                Configs.of(
                        UperNetHead.Config.class,
                        "in_index=[2]",
                        "pool_scales=[2]",
                        "channels=8",
                        "dropout_ratio=0",
                        "norm=bn"),
                semanticFpn("dropout_ratio=0.1", "norm=bn"),
                semanticFpn(
                        "in_index=[1, 2, 3]",
                        "dropout_ratio=0",
                        "norm=none",
                        "align_corners=true",
                        "loss_decode={loss_weight: 1, class_weight: [], avg_non_ignore: false}"),
                fcn(),
                fcn(
                        "in_index=0",
                        "num_convs=2",
                        "kernel_size=5",
                        "concat_input=true",
                        "norm=none",
                        "align_corners=true"),
                fcn("num_convs=0", "concat_input=true", "dropout_ratio=0"));
    }

    private SegmentationHead built(SegmentationHead.Config config) {
        SegmentationHead head = config.build(FEATURES, CLASSES);
        head.initialize(manager, 3);
        return head;
    }

    /** Levels of a backbone that rounds sizes up. */
    private FeaturePyramid pyramid(int images, int height, int width) {
        return new FeaturePyramid(
                FEATURES.stream()
                        .map(
                                level ->
                                        manager.randomNormal(
                                                0,
                                                1,
                                                new Shape(
                                                        images,
                                                        level.channels(),
                                                        cells(height, level),
                                                        cells(width, level)),
                                                DataType.FLOAT32))
                        .toList());
    }

    private static int cells(int pixels, FeatureInfo level) {
        return (pixels + level.stride() - 1) / level.stride();
    }

    private NDArray labels(int images, int height, int width) {
        return manager.randomInteger(-1, CLASSES, new Shape(images, height, width), DataType.INT64);
    }

    @ParameterizedTest
    @MethodSource("heads")
    void trainsEveryParameterAtAnySize(SegmentationHead.Config config) {
        SegmentationHead head = built(config);
        List<Parameter> learned =
                head.namedParameters().values().stream().filter(p -> !Module.isBuffer(p)).toList();
        for (int[] size : new int[][] {{97, 131}, {64, 64}, {32, 32}}) {
            FeaturePyramid pyramid = pyramid(2, size[0], size[1]);
            NDArray labels = labels(2, size[0], size[1]);
            List<NDArray> gradients =
                    Autograd.gradients(
                            () -> head.losses(pyramid, labels).total(),
                            learned.stream().map(Parameter::getArray).toList());
            for (int i = 0; i < learned.size(); i++) {
                float norm = gradients.get(i).norm().getFloat();
                assertTrue(Float.isFinite(norm), learned.get(i).getName());
            }
            assertFalse(gradients.stream().anyMatch(NDArray::isEmpty));
        }
    }

    @ParameterizedTest
    @MethodSource("heads")
    void scoresOnlyTheCellsOfTheFinestLevel(SegmentationHead.Config config) {
        SegmentationHead head = built(config);
        head.train(false);
        FeaturePyramid pyramid = pyramid(2, 97, 131);
        NDArray logits = head.logits(pyramid);
        assertEquals(new Shape(2, CLASSES), logits.getShape().slice(0, 2));
        FeaturePyramid second =
                new FeaturePyramid(
                        pyramid.levels().stream().map(level -> level.get("1:2")).toList());
        assertTrue(head.logits(second).allClose(logits.get("1:2"), 1e-4, 1e-5, false));
    }

    @Test
    void dropoutIsSampledPerImage() {
        SegmentationHead head = built(uperNet(Norm.NONE));
        FeaturePyramid pyramid = pyramid(1, 64, 64);
        NDArray first = draw(head, pyramid, 1);
        assertTrue(first.contentEquals(draw(head, pyramid, 1)));
        assertFalse(first.contentEquals(draw(head, pyramid, 2)));
    }

    private static NDArray draw(SegmentationHead head, FeaturePyramid pyramid, long image) {
        return SampleRandom.call(0, 0, new long[] {image}, () -> head.logits(pyramid));
    }

    @Test
    void rejectsASinglePooledCellWithBatchNormalization() {
        SegmentationHead head = built(uperNet(Norm.SYNC_BN));
        FeaturePyramid alone = pyramid(1, 64, 64);
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> head.logits(alone));
        assertTrue(thrown.getMessage().contains("at least 2 images"), thrown.getMessage());
    }

    @Test
    void rejectsMissingLevels() {
        FcnHead.Config config = fcn("in_index=4");
        assertThrows(IllegalArgumentException.class, () -> config.build(FEATURES, CLASSES));
        assertThrows(
                IllegalArgumentException.class,
                () -> semanticFpn("in_index=[1, 0]", "norm=bn").build(FEATURES, CLASSES));
        assertThrows(
                IllegalArgumentException.class,
                () -> uperNet(Norm.BN).build(FEATURES, CLASSES + 1));
    }
}
