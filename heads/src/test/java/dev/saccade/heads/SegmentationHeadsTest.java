package dev.saccade.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleDraws;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.SegmentationHead;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
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
        assertEquals(uperNet, new UperNetHead.Config().build(features, 150).parameterCount());
        assertEquals(auxiliary, new FcnHead.Config().build(features, 150).parameterCount());
        assertEquals(
                1_643_158,
                new SemanticFpnHead.Config()
                        .build(features(256, 256, 256, 256), 150)
                        .parameterCount());
    }

    static UperNetHead.Config uperNet(Norm norm) {
        return new UperNetHead.Config(
                List.of(0, 1, 2, 3), List.of(1, 2, 3, 6), 8, 0.5, norm, false, weighted());
    }

    private static CrossEntropyLoss weighted() {
        return new CrossEntropyLoss(0.4, List.of(1.0, 2.0, 0.5, 1.0, 1.0), true);
    }

    static Stream<SegmentationHead.Config> heads() {
        return Stream.of(
                uperNet(Norm.SYNC_BN),
                uperNet(Norm.NONE),
                new UperNetHead.Config(
                        List.of(1, 3), List.of(), 8, 0, Norm.BN, true, new CrossEntropyLoss()),
                new UperNetHead.Config(
                        List.of(2), List.of(2), 8, 0, Norm.BN, false, new CrossEntropyLoss()),
                new SemanticFpnHead.Config(List.of(0, 1, 2, 3), 8, 0.1, Norm.BN, false, weighted()),
                new SemanticFpnHead.Config(
                        List.of(1, 2, 3), 8, 0, Norm.NONE, true, new CrossEntropyLoss()),
                new FcnHead.Config(2, 8, 1, 3, false, 0.1, Norm.BN, false, weighted()),
                new FcnHead.Config(0, 8, 2, 5, true, 0.1, Norm.NONE, true, weighted()),
                new FcnHead.Config(2, 8, 0, 3, true, 0, Norm.BN, false, weighted()));
    }

    private SegmentationHead built(SegmentationHead.Config config) {
        SegmentationHead head = config.build(FEATURES, CLASSES);
        head.initialize(manager, 3);
        return head;
    }

    /** Levels as a backbone has them that rounds up. */
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
    void learnEveryParameterAtAnySize(SegmentationHead.Config config) {
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
    void scoreTheCellsOfTheFinestLevelAlike(SegmentationHead.Config config) {
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
    void dropoutBelongsToTheSample() {
        SegmentationHead head = built(uperNet(Norm.NONE));
        FeaturePyramid pyramid = pyramid(1, 64, 64);
        NDArray first = draw(head, pyramid, 1);
        assertTrue(first.contentEquals(draw(head, pyramid, 1)));
        assertFalse(first.contentEquals(draw(head, pyramid, 2)));
    }

    private static NDArray draw(SegmentationHead head, FeaturePyramid pyramid, long image) {
        return SampleDraws.during(0, 0, new long[] {image}, () -> head.logits(pyramid));
    }

    @Test
    void tellThatOnePooledCellIsNotEnoughForBatchNormalisation() {
        SegmentationHead head = built(uperNet(Norm.SYNC_BN));
        FeaturePyramid alone = pyramid(1, 64, 64);
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> head.logits(alone));
        assertTrue(thrown.getMessage().contains("at least 2 images"), thrown.getMessage());
    }

    @Test
    void refuseLevelsThatAreNotThere() {
        FcnHead.Config config =
                new FcnHead.Config(4, 8, 1, 3, false, 0, Norm.BN, false, weighted());
        assertThrows(IllegalArgumentException.class, () -> config.build(FEATURES, CLASSES));
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        new SemanticFpnHead.Config(List.of(1, 0), 8, 0, Norm.BN, false, weighted())
                                .build(FEATURES, CLASSES));
        assertThrows(
                IllegalArgumentException.class,
                () -> uperNet(Norm.BN).build(FEATURES, CLASSES + 1));
    }
}
