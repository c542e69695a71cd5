package dev.saccade.necks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Collections;
import java.util.List;

class FpnTest {

    private static final List<FeatureInfo> RESNET50 =
            List.of(
                    new FeatureInfo(256, 4),
                    new FeatureInfo(512, 8),
                    new FeatureInfo(1024, 16),
                    new FeatureInfo(2048, 32));

    private static final List<FeatureInfo> NARROW =
            List.of(
                    new FeatureInfo(4, 4),
                    new FeatureInfo(5, 8),
                    new FeatureInfo(6, 16),
                    new FeatureInfo(7, 32));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({"0, NONE, 3344384", "1, ON_INPUT, 7997440", "1, ON_OUTPUT, 3868672"})
    void hasTheParametersOfTheFormula(int startLevel, Fpn.ExtraConvs extra, long parameters) {
        Fpn fpn = new Fpn(new Fpn.Config(256, startLevel, 5, extra, false, Norm.NONE), RESNET50);
        assertEquals(
                parameters,
                fpn.namedParameters().values().stream().mapToLong(p -> p.getShape().size()).sum());
    }

    @ParameterizedTest
    @EnumSource
    void outputMatchesFeatures(Fpn.ExtraConvs extra) {
        Fpn fpn = new Fpn(new Fpn.Config(8, 1, 5, extra, true, Norm.NONE), NARROW);
        fpn.initialize(manager, 0);
        FeaturePyramid outputs = NoGrad.call(() -> fpn.apply(inputs(97, 131)));
        assertEquals(5, outputs.size());
        for (int l = 0; l < 5; l++) {
            FeatureInfo info = fpn.features().get(l);
            assertEquals(8 << l, info.stride());
            Shape expected = new Shape(1, 8, ceil(97, info.stride()), ceil(131, info.stride()));
            assertEquals(expected, outputs.get(l).getShape());
        }
    }

    @Test
    void poolingTakesEverySecondCell() {
        Fpn fpn = new Fpn(new Fpn.Config(1, 0, 5, Fpn.ExtraConvs.NONE, false, Norm.NONE), NARROW);
        fpn.initialize(manager, 0);
        FeaturePyramid outputs = NoGrad.call(() -> fpn.apply(inputs(160, 160)));
        NDArray expected = outputs.get(3).get(":, :, ::2, ::2");
        assertArrayEquals(expected.toFloatArray(), outputs.get(4).toFloatArray());
    }

    @Test
    void rejectsIncompatibleFeatures() {
        Fpn.Config beyond = new Fpn.Config(8, 4, 5, Fpn.ExtraConvs.NONE, false, Norm.NONE);
        assertTrue(messageOf(beyond).startsWith("start_level: got 4"));
        Fpn.Config tooFew = new Fpn.Config(8, 0, 3, Fpn.ExtraConvs.NONE, false, Norm.NONE);
        assertTrue(messageOf(tooFew).startsWith("num_outs: got 3"));
    }

    @Test
    void rejectsLevelsWithTheSameStride() {
        List<FeatureInfo> flat = Collections.nCopies(4, new FeatureInfo(150, 16));
        Fpn.Config config = new Fpn.Config(8, 1, 5, Fpn.ExtraConvs.NONE, false, Norm.NONE);
        String message =
                assertThrows(IllegalArgumentException.class, () -> config.build(flat)).getMessage();
        assertTrue(message.contains("strides [16, 16, 16]"), message);
        assertTrue(message.contains("out_indices"), message);
        List<FeatureInfo> one = flat.subList(0, 1);
        assertEquals(
                List.of(16, 32),
                new Fpn(new Fpn.Config(8, 0, 2, Fpn.ExtraConvs.NONE, false, Norm.NONE), one)
                        .features().stream().map(FeatureInfo::stride).toList());
    }

    private static String messageOf(Fpn.Config config) {
        return assertThrows(IllegalArgumentException.class, () -> config.build(NARROW))
                .getMessage();
    }

    private FeaturePyramid inputs(int height, int width) {
        return new FeaturePyramid(
                NARROW.stream()
                        .map(
                                info ->
                                        manager.randomNormal(
                                                new Shape(
                                                        1,
                                                        info.channels(),
                                                        ceil(height, info.stride()),
                                                        ceil(width, info.stride()))))
                        .toList());
    }

    private static int ceil(int size, int stride) {
        return (size + stride - 1) / stride;
    }
}
