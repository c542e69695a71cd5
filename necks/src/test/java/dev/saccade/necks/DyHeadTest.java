package dev.saccade.necks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

class DyHeadTest {

    private static final List<FeatureInfo> LEVELS =
            List.of(new FeatureInfo(16, 8), new FeatureInfo(16, 16), new FeatureInfo(16, 32));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private <N extends Neck> N initialized(N neck) {
        neck.initialize(manager, 0);
        neck.train(false);
        return neck;
    }

    private FeaturePyramid pyramid(int... sizes) {
        List<NDArray> maps = new ArrayList<>();
        for (int size : sizes) {
            maps.add(manager.randomNormal(new Shape(2, 16, size, size + 1)));
        }
        return new FeaturePyramid(maps);
    }

    @Test
    void hasTheParametersOfTheFormula() {
        List<FeatureInfo> coco = List.of(new FeatureInfo(256, 8), new FeatureInfo(256, 16));
        DyHead neck = new DyHead(Configs.of(DyHead.Config.class), coco);
        long spatial = 3 * (589_824 + 512) + 27 * 2305;
        long attention = 257 + 64 * 257 + 1024 * 65;
        assertEquals(6 * (spatial + attention), neck.parameterCount());
    }

    @ParameterizedTest
    @CsvSource({"12, 6, 3", "13, 7, 4", "13, 6, 3", "15, 7, 3", "2, 1, 1", "1, 1, 1"})
    void keepsTheLevelsOfEverySize(int fine, int middle, int coarse) {
        DyHead neck = initialized(new DyHead(new DyHead.Config(32, 2, false), LEVELS));
        FeaturePyramid given = pyramid(fine, middle, coarse);
        FeaturePyramid made = NoGrad.call(() -> neck.apply(given));
        for (int l = 0; l < made.size(); l++) {
            Shape shape = given.get(l).getShape();
            Shape expected = new Shape(2, 32, shape.get(2), shape.get(3));
            assertEquals(expected, made.get(l).getShape());
            float sum = made.get(l).sum().getFloat();
            assertTrue(Float.isFinite(sum), "level " + l + ": " + sum);
        }
        assertEquals(List.of(32, 32, 32), neck.features().stream().map(f -> f.channels()).toList());
    }

    @Test
    void aLevelDependsOnItsNeighborsOnly() {
        DyHead neck = initialized(new DyHead(new DyHead.Config(16, 1, false), LEVELS));
        FeaturePyramid given = pyramid(12, 6, 3);
        FeaturePyramid other =
                new FeaturePyramid(List.of(given.get(0), given.get(1), given.get(2).add(1)));
        FeaturePyramid before = NoGrad.call(() -> neck.apply(given));
        FeaturePyramid after = NoGrad.call(() -> neck.apply(other));
        assertArrayEquals(before.get(0).toFloatArray(), after.get(0).toFloatArray());
        assertTrue(before.get(1).sub(after.get(1)).abs().max().getFloat() > 1e-4);
        assertTrue(before.get(2).sub(after.get(2)).abs().max().getFloat() > 1e-4);
    }

    @Test
    void rejectsIncompatibleFeatures() {
        List<FeatureInfo> backbone = List.of(new FeatureInfo(64, 4), new FeatureInfo(128, 8));
        List<FeatureInfo> sameStride = List.of(new FeatureInfo(16, 8), new FeatureInfo(16, 8));
        for (List<FeatureInfo> levels : List.of(backbone, sameStride)) {
            String message =
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> new DyHead(new DyHead.Config(16, 1, true), levels))
                            .getMessage();
            assertTrue(message.contains("strides that double"), message);
        }
        String message =
                assertThrows(IllegalArgumentException.class, () -> new DyHead.Config(24, 1, true))
                        .getMessage();
        assertTrue(message.contains("a multiple of 16"), message);
    }

    @Test
    void namesTheIncompatibleNeck() {
        SequentialNeck.Config tooFew =
                Configs.of(SequentialNeck.Config.class, "necks=[{type: fpn, num_outs: 2}]");
        SequentialNeck.Config alone =
                Configs.of(SequentialNeck.Config.class, "necks=[{type: dyhead}]");
        assertEquals(
                "necks[0].num_outs: got 2, expected at least the number of used levels, 3",
                assertThrows(IllegalArgumentException.class, () -> tooFew.build(LEVELS))
                        .getMessage());
        List<FeatureInfo> ofABackbone = List.of(new FeatureInfo(64, 4), new FeatureInfo(128, 8));
        String message =
                assertThrows(IllegalArgumentException.class, () -> alone.build(ofABackbone))
                        .getMessage();
        assertTrue(
                message.startsWith(
                        "necks[0].type: got dyhead after levels with [64, 128] channels and strides"
                                + " [4, 8], expected the same channels in all levels"),
                message);
    }

    @Test
    void namesNecksByPosition() {
        SequentialNeck neck =
                initialized(
                        new SequentialNeck(
                                Configs.of(
                                        SequentialNeck.Config.class,
                                        "necks=[{type: fpn, out_channels: 16, num_outs: 3},"
                                                + " {type: dyhead, out_channels: 32,"
                                                + " num_blocks: 1}]"),
                                LEVELS));
        assertTrue(neck.namedParameters().containsKey("0.lateral_convs.2.conv.weight"));
        assertTrue(
                neck.namedParameters()
                        .containsKey("1.dyhead_blocks.0.task_attn_module.conv2.conv.bias"));
        assertEquals(new FeatureInfo(32, 32), neck.features().get(2));
        FeaturePyramid given = pyramid(12, 6, 3);
        FeaturePyramid made = NoGrad.call(() -> neck.apply(given));
        assertEquals(new Shape(2, 32, 12, 13), made.get(0).getShape());
        FeaturePyramid first = NoGrad.call(() -> neck.necks().get(0).apply(given));
        FeaturePyramid then = NoGrad.call(() -> neck.necks().get(1).apply(first));
        assertArrayEquals(then.get(1).toFloatArray(), made.get(1).toFloatArray());
    }
}
