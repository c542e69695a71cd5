package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

class FocalTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** The classifiers were counted with the official code, without the output norms. */
    @ParameterizedTest
    @CsvSource({
        "tiny, 28443828",
        "small, 50726124",
        "base, 89261312",
        "large, 205681732",
        "tiny_224, 28112724",
        "small_224, 50374284",
        "base_224, 88792192",
        "large_224, 205212612",
        "tiny_conv_224, 30057588",
        "small_conv_224, 52319148",
        "base_conv_224, 92245504",
    })
    void hasThePublishedNumberOfParameters(String variant, long parameters) {
        assertEquals(
                parameters,
                new Focal(Configs.of(Focal.Config.class, "variant=" + variant)).parameterCount());
    }

    @ParameterizedTest
    @CsvSource({
        "tiny_224, 28880380",
        "small_224, 51141940",
        "base_224, 89815400",
        "large_224, 206778868",
        "tiny_conv_224, 30825244",
        "small_conv_224, 53086804",
        "base_conv_224, 93268712",
    })
    void classifierHasTheOfficialSize(String variant, long parameters) {
        Focal.Config config = Configs.of(Focal.Config.class, "variant=" + variant);
        assertEquals(parameters, BackboneSummary.classifierParameters(config, config.build()));
    }

    /** Tokens of the window, with or without its ring, and the pooled cells. */
    @ParameterizedTest
    @CsvSource({
        "tiny_224, 218, 194, 178, 50",
        "tiny_224_window, 49, 49, 49, 49",
        "tiny_224_local, 169, 169, 169, 49",
        "tiny_224_global, 98, 74, 58, 50",
        "tiny_224_w14, 449, 425, 205, 50",
    })
    void queriesHaveTheKeysOfTheAblation(
            String variant, int first, int second, int third, int fourth) {
        Focal.Config config = Configs.of(Focal.Config.class, "variant=" + variant);
        assertArrayEquals(
                new int[] {first, second, third, fourth},
                IntStream.range(0, 4).map(stage -> config.region(stage, 1).keys()).toArray());
        assertEquals(0, config.region(0, 1).shift());
    }

    @Test
    void shiftsOnlyMapsOfSeveralWindows() {
        Focal.Config config = Configs.of(Focal.Config.class, "variant=tiny_224_shift");
        assertEquals(0, config.region(2, 0).shift());
        assertEquals(3, config.region(2, 1).shift());
        assertEquals(0, config.region(3, 1).shift());
    }

    /** The paper gives 0.2, 0.2 and 0.3 for classification and 0.2, 0.3 and 0.5 for detection. */
    @ParameterizedTest
    @CsvSource({
        "tiny, 0.2", "small, 0.3", "base, 0.5", "large, 0.5",
        "tiny_224, 0.2", "small_224, 0.2", "base_224, 0.3", "large_224, 0.3",
        "tiny_conv_224, 0.2", "small_conv_224, 0.3", "base_conv_224, 0.5",
    })
    void hasThePublishedStochasticDepth(String variant, double rate) {
        Focal.Config config = Configs.of(Focal.Config.class, "variant=" + variant);
        assertEquals(rate, config.stages().dropPathRate());
    }

    @ParameterizedTest
    @CsvSource({"large", "large_224"})
    void largeIsBaseWithAWidthOf196(String variant) {
        Focal.Config config = Configs.of(Focal.Config.class, "variant=" + variant);
        assertEquals(196, config.embedDim());
        Focal.Config base =
                Configs.of(Focal.Config.class, "variant=" + variant.replace("large", "base"));
        assertEquals(base.numHeads(), config.numHeads());
        assertEquals(base.windows(), config.windows());
        assertEquals(base.stages(), config.stages());
    }

    /** For 224x224 images, the map of the last stage is one window. */
    @Test
    void windowsAreNotLargerThanTheirMaps() {
        Focal.Config config = Configs.of(Focal.Config.class, "variant=tiny_224");
        assertEquals(3, config.region(2, 0).expand());
        assertEquals(0, config.region(3, 0).expand());
        assertEquals(7, config.region(3, 0).window());
        assertEquals(3, Configs.of(Focal.Config.class, "variant=tiny").region(3, 0).expand());
        Focal.Config odd = config(List.of(100, 120), false, Focal.ExpandLayer.ALL);
        assertEquals(3, odd.region(3, 0).window());
        assertEquals(
                4, config(List.of(100, 120), true, Focal.ExpandLayer.ALL).region(3, 0).window());
    }

    @ParameterizedTest
    @EnumSource(Focal.ExpandLayer.class)
    void someBlocksAreNotExpanded(Focal.ExpandLayer layer) {
        Focal.Config config = config(List.of(), true, layer);
        assertEquals(layer == Focal.ExpandLayer.EVEN ? 0 : 2, config.region(0, 0).expand());
        assertEquals(layer == Focal.ExpandLayer.ODD ? 0 : 2, config.region(0, 1).expand());
        assertEquals(0, config.region(0, 0).shift());
        assertEquals(2, config.region(0, 1).shift());
    }

    @Test
    void cropsIncompletePatchesWithoutPadding() {
        assertEquals(new Shape(1, 16, 12, 15), map(true).getShape());
        assertEquals(new Shape(1, 16, 11, 14), map(false).getShape());
    }

    private NDArray map(boolean padded) {
        Focal focal = new Focal(config(List.of(), padded, Focal.ExpandLayer.ALL));
        focal.initialize(manager, 0);
        return NoGrad.call(() -> focal.apply(manager.ones(new Shape(1, 3, 93, 119))))
                .levels()
                .get(1);
    }

    /** 2x2 parts in windows of 5 leave one row at the bottom and one column on each side. */
    @ParameterizedTest
    @EnumSource(Focal.Pool.class)
    void poolsPartsOfWindows(Focal.Pool pool) {
        SubWindowPooling layer = new SubWindowPooling(pool, 1, 5, 1);
        layer.initialize(manager, 0);
        layer.namedParameters().values().forEach(p -> p.getArray().muli(0).addi(1));
        NDArray map = manager.arange(50f).reshape(1, 5, 10, 1);
        float[] expected =
                switch (pool) {
                    case MAX -> new float[] {12, 14, 16, 18, 32, 34, 36, 38};
                    case MEAN -> new float[] {6.5f, 8.5f, 10.5f, 12.5f, 26.5f, 28.5f, 30.5f, 32.5f};
                    case FC, CONV -> new float[] {27, 35, 43, 51, 107, 115, 123, 131};
                };
        float[] pooled = NoGrad.call(() -> layer.apply(map)).toFloatArray();
        assertArrayEquals(expected, pooled, 1e-4f);
    }

    /** A branch with scale 0 does not change the map. */
    @Test
    void initializesLayerScaleAsConfigured() {
        Focal.Config config = config(List.of(), true, Focal.ExpandLayer.ALL);
        FocalBlock block = new FocalBlock(config, 0, 1);
        block.initialize(manager, 0);
        NDArray x = manager.randomNormal(new Shape(1, 6, 9, 8));
        NDArray scale = block.namedParameters().get("gamma_1").getArray();
        assertEquals(0.5f, scale.max().getFloat());
        assertNotEquals(x, NoGrad.call(() -> block.apply(x)));
        scale.muli(0);
        block.namedParameters().get("gamma_2").getArray().muli(0);
        assertEquals(x, NoGrad.call(() -> block.apply(x)));
    }

    @Test
    void rejectsInvalidSettings() {
        assertSays(
                "focal_windows: got [3, 2, 3, 3], expected odd numbers",
                () -> config(List.of(), List.of(3, 2, 3, 3), List.of(2, 2, 2, 2)));
        assertSays(
                "focal_levels: got [2, 2, 2, 5], expected fewer levels: the windows"
                        + " of stage 3 are 4 tokens wide",
                () -> config(List.of(128, 160), List.of(3, 3, 3, 3), List.of(2, 2, 2, 5)));
        assertSays(
                "image_size: got [128], expected a list of length 2",
                () -> config(List.of(128), List.of(3, 3, 3, 3), List.of(2, 2, 2, 2)));
    }

    private static void assertSays(String message, Executable config) {
        Exception e = assertThrows(SaccadeException.class, config);
        assertTrue(e.getMessage().endsWith(": " + message), e.getMessage());
    }

    private static Focal.Config config(
            List<Integer> imageSize, boolean padded, Focal.ExpandLayer layer) {
        return config(imageSize, List.of(3, 3, 3, 3), List.of(2, 2, 2, 2), padded, layer);
    }

    private static Focal.Config config(
            List<Integer> imageSize, List<Integer> focalWindows, List<Integer> focalLevels) {
        return config(imageSize, focalWindows, focalLevels, true, Focal.ExpandLayer.ALL);
    }

    private static Focal.Config config(
            List<Integer> imageSize,
            List<Integer> focalWindows,
            List<Integer> focalLevels,
            boolean padded,
            Focal.ExpandLayer layer) {
        return Configs.of(
                Focal.Config.class,
                "embed_dim=8",
                "depths=[2, 1, 1, 1]",
                "num_heads=[1, 2, 2, 4]",
                "window_size=5",
                "focal_levels=" + focalLevels,
                "focal_windows=" + focalWindows,
                "expand_sizes=[2, 2, 2, 2]",
                "expand_layer=" + layer.name().toLowerCase(Locale.ROOT),
                "image_size=" + imageSize,
                "pad_to_patches=" + padded,
                "use_shift=true",
                "layer_scale=0.5",
                "drop_path_rate=0");
    }
}
