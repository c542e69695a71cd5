package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.backbones.ResNet;
import dev.saccade.backbones.Swin;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.Neck;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.segmentation.FcnHead;
import dev.saccade.heads.segmentation.SemanticFpnHead;
import dev.saccade.heads.segmentation.UperNetHead;
import dev.saccade.models.segmentation.SlidingWindow;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

class SegmentationModelTest {

    private static final Fpn.Config NECK = Configs.of(Fpn.Config.class, "num_outs=4");
    private static final FcnHead.Config AUXILIARY =
            Configs.of(FcnHead.Config.class, "channels=8", "norm=bn");

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "tiny, 59941862, 31893840",
        "small, 81259766, 53211744",
        "base, 121279716, 91241038",
    })
    void hasThePublishedParameterCounts(String variant, long uperNet, long semanticFpn) {
        Backbone.Config backbone = Configs.of(Swin.Config.class, "variant=" + variant);
        assertEquals(
                uperNet,
                total(
                        backbone,
                        Optional.empty(),
                        Configs.of(UperNetHead.Config.class),
                        Optional.of(Configs.of(FcnHead.Config.class))));
        assertEquals(
                semanticFpn,
                total(
                        backbone,
                        Optional.of(NECK),
                        Configs.of(SemanticFpnHead.Config.class),
                        Optional.empty()));
    }

    private static long total(
            Backbone.Config backbone,
            Optional<Neck.Config> neck,
            SegmentationHead.Config head,
            Optional<HeadConfig> auxiliary) {
        List<String> classes = Collections.nCopies(150, "stuff");
        ModelConfig config = new ModelConfig(backbone, neck, head, auxiliary, Optional.empty());
        return new SegmentationModel(config, classes).parameterCount();
    }

    private SegmentationModel segmenter(Optional<SlidingWindow> window) {
        UperNetHead.Config head =
                Configs.of(UperNetHead.Config.class, "pool_scales=[1, 2]", "channels=8", "norm=bn");
        SegmentationModel segmenter =
                new SegmentationModel(
                        new ModelConfig(
                                Configs.of(
                                        ResNet.Config.class,
                                        "depth=18",
                                        "stem_channels=4",
                                        "base_channels=4",
                                        "norm_eval=false",
                                        "zero_init_residual=false"),
                                Optional.empty(),
                                head,
                                Optional.of(AUXILIARY),
                                window),
                        List.of("sky", "road", "tree"));
        segmenter.initialize(manager, 4);
        segmenter.train(false);
        return segmenter;
    }

    private NDArray pixels(int images, int height, int width) {
        Shape shape = new Shape(images, 3, height, width);
        return manager.randomNormal(0, 3, shape, DataType.FLOAT32);
    }

    private static ImageInfo image(Size original, Size size) {
        return ImageInfo.of(original).resized(size, 1, 1);
    }

    @Test
    void trainsBothHeads() {
        SegmentationModel segmenter = segmenter(Optional.empty());
        segmenter.train(true);
        List<ImageInfo> images = Collections.nCopies(2, ImageInfo.of(new Size(64, 64)));
        NDArray labels = manager.randomInteger(-1, 3, new Shape(2, 64, 64), DataType.INT64);
        Losses losses = segmenter.losses(new ImageBatch(pixels(2, 64, 64), images), labels);
        assertEquals(Set.of("decode.loss_seg", "aux.loss_seg"), losses.terms().keySet());
        assertEquals(Set.of("decode.acc_seg", "aux.acc_seg"), losses.metrics().keySet());
        assertTrue(segmenter.namedParameters().containsKey("decode_head.conv_seg.weight"));
        assertTrue(segmenter.namedParameters().containsKey("auxiliary_head.convs.0.bn.bias"));
    }

    @Test
    void predictionDoesNotDependOnBatchAndPadding() {
        NDArray pixels = pixels(2, 64, 96);
        ImageInfo small = image(new Size(70, 80), new Size(50, 61));
        ImageInfo large = image(new Size(64, 96), new Size(64, 96)).flipHorizontal();
        for (Optional<SlidingWindow> window :
                List.of(
                        Optional.<SlidingWindow>empty(),
                        Optional.of(new SlidingWindow(List.of(48, 48), List.of(32, 32))))) {
            SegmentationModel segmenter = segmenter(window);
            List<LabelMap> both = segmenter.predict(new ImageBatch(pixels, List.of(small, large)));
            NDArray first = pixels.get("0:1, :, :50, :61").duplicate();
            LabelMap alone = segmenter.predict(new ImageBatch(first, List.of(small))).get(0);
            assertEquals(alone, both.get(0));
            assertEquals(new Size(70, 80), alone.size());
            ImageInfo upright = image(new Size(64, 96), new Size(64, 96));
            ImageBatch second = new ImageBatch(pixels.get("1:2").duplicate(), List.of(upright));
            LabelMap mirrored = segmenter.predict(second).get(0);
            assertEquals(mirrored.flipHorizontal(), both.get(1));
            assertNotEquals(mirrored, both.get(1));
        }
    }

    @Test
    void equalAugmentationsEqualOne() {
        SegmentationModel segmenter = segmenter(Optional.empty());
        ImageBatch view =
                new ImageBatch(
                        pixels(1, 64, 80), List.of(image(new Size(90, 111), new Size(64, 80))));
        assertEquals(
                segmenter.predict(view).get(0),
                segmenter.predictAugmented(List.of(view, view, view)));
    }

    @Test
    void namesTheComponentThatDoesNotFit() {
        FcnHead.Config missing =
                Configs.of(FcnHead.Config.class, "in_index=4", "channels=8", "norm=bn");
        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                total(
                                        Configs.of(ResNet.Config.class),
                                        Optional.empty(),
                                        Configs.of(SemanticFpnHead.Config.class),
                                        Optional.of(missing)));
        assertTrue(
                thrown.getMessage().startsWith("model.auxiliary_head.in_index: got 4, expected"),
                thrown.getMessage());
    }
}
