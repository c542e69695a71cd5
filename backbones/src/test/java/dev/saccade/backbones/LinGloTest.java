package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.backbones.LinGlo.DownNorm;
import dev.saccade.backbones.LinGlo.Skip;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

class LinGloTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "b0, 3345888, 3550432",
        "b1, 13212608, 13621696",
        "b2, 24631104, 25457984",
        "b0_cchh, 3192608, 3327520",
        "b0_chhh, 3322928, 3510064",
        "b0_dot_product, 3344640, 3549184",
        "b0_cpe, 3345888, 3351904",
        "b0_r_cpe, 3345888, 3351904",
        "b0_p_cpe, 3345888, 3550432",
        "b0_without_c, 3211200, 3211200",
        "without_ch, 3770250, 3770250",
    })
    void hasTheExpectedNumberOfParameters(String variant, long deployed, long trained) {
        assertEquals(deployed, learned(new LinGlo(variant(variant, true)), ""));
        assertEquals(trained, learned(new LinGlo(variant(variant, false)), ""));
    }

    @ParameterizedTest
    @CsvSource({
        "b0, 1, 23616, 32320",
        "b0, 2, 88192, 105600",
        "b0, 3, 315840, 337600",
        "b0, 4, 800256, 835072",
        "b2, 1, 88192, 105600",
        "b2, 2, 340224, 375040",
        "b2, 3, 1246080, 1289600",
        "b2, 4, 3173376, 3243008"
    })
    void blocksHaveTheExpectedSize(String variant, int stage, long deployed, long trained) {
        String block = "stage" + stage + ".1.";
        assertEquals(deployed, learned(new LinGlo(variant(variant, true)), block));
        assertEquals(trained, learned(new LinGlo(variant(variant, false)), block));
    }

    private static long learned(LinGlo linglo, String prefix) {
        return linglo.namedParameters().entrySet().stream()
                .filter(named -> named.getKey().startsWith(prefix))
                .filter(named -> !Module.isBuffer(named.getValue()))
                .mapToLong(named -> named.getValue().getShape().size())
                .sum();
    }

    /** The published numbers include a classifier with 1000 classes. */
    @ParameterizedTest
    @CsvSource({"b0, 0.675e9", "b1, 2.610e9", "b2, 5.025e9"})
    void countsItsMultiplyAdds(String variant, double expected) {
        LinGlo linglo = new LinGlo(variant(variant, true));
        linglo.initialize(manager, 0);
        NDArray image = manager.ones(new Shape(1, 3, 224, 224));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> linglo.apply(image)));
        long classifier = 1000L * linglo.features().get(3).channels();
        assertEquals(expected, (double) (count + classifier), 0.0005e9);
    }

    /** Expected values are from a PyTorch implementation with the same parameters. */
    @Test
    void matchesAnIndependentImplementation() {
        LinGlo linglo = waves();
        linglo.train(false);
        assertFeatures(
                linglo,
                new double[][] {
                    {0.81528, 0.09188, 0.75812},
                    {-0.77257, -1.65007, 0.91811},
                    {-1.24701, 1.07998, 0.94643},
                    {1.20603, 0.03348, 0.88056}
                });
        linglo.train(true);
        assertFeatures(
                linglo,
                new double[][] {
                    {0.23617, 0.59115, 0.75901},
                    {-0.43149, -1.48182, 0.89712},
                    {-1.56546, 1.87099, 0.92476},
                    {1.24977, -0.69895, 0.88894}
                });
        float[] learnedVariance =
                linglo.namedParameters()
                        .get("stage3.1.mlp.cpe.branch2.bn.running_var")
                        .getArray()
                        .toFloatArray();
        assertEquals(0.57017, learnedVariance[0], 2e-5);
        assertEquals(0.54787, learnedVariance[1], 2e-5);
    }

    /** A network whose k-th parameter by name is {@code 0.4 sin(0.37 i + k)}, plus 1 for scales. */
    private LinGlo waves() {
        LinGlo linglo = new LinGlo(narrow(4, true, Skip.IDENTITY, true, DownNorm.PRE, false));
        linglo.initialize(manager, 0);
        int k = 0;
        for (Map.Entry<String, Parameter> named :
                new TreeMap<>(linglo.namedParameters()).entrySet()) {
            String name = named.getKey();
            Shape shape = named.getValue().getShape();
            boolean scales =
                    name.endsWith("running_var")
                            || (name.endsWith("weight") && shape.dimension() == 1);
            copy(wave(shape, 0.4, 0.37, k, scales ? 1 : 0), named.getValue());
            k++;
        }
        return linglo;
    }

    private void assertFeatures(LinGlo linglo, double[][] expected) {
        NDArray image = wave(new Shape(2, 3, 40, 56), 1, 0.1, 0, 0);
        List<NDArray> levels = NoGrad.call(() -> linglo.apply(image)).levels();
        for (int l = 0; l < 4; l++) {
            float[] values = levels.get(l).toFloatArray();
            assertEquals(expected[l][0], values[0], 1e-4);
            assertEquals(expected[l][1], values[values.length - 1], 1e-4);
            assertEquals(expected[l][2], levels.get(l).abs().mean().getFloat(), 1e-4);
        }
    }

    private NDArray wave(Shape shape, double height, double step, int phase, double mean) {
        float[] values = new float[Math.toIntExact(shape.size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (mean + height * Math.sin(step * i + phase));
        }
        return Tensors.of(manager, values, shape);
    }

    private static void copy(NDArray values, Parameter parameter) {
        MemoryFormat.copy(values, parameter.getArray());
    }

    @Test
    void fusingDoesNotChangeTheOutput() {
        LinGlo linglo = waves();
        linglo.train(false);
        float[] apart = stageOne(linglo);
        linglo.fuse();
        assertArrayEquals(apart, stageOne(linglo), 1e-5f);
        Parameter weight = linglo.namedParameters().get("stage1.0.mlp.cpe.branch1.conv.weight");
        weight.getArray().muli(0);
        assertArrayEquals(apart, stageOne(linglo), 1e-5f, "the fused weight stays");
        linglo.train(true);
        linglo.train(false);
        assertTrue(Math.abs(apart[0] - stageOne(linglo)[0]) > 1e-3, "training ends it");
    }

    @ParameterizedTest
    @CsvSource({"true, IDENTITY", "true, BN", "false, BN", "false, IDENTITY", "true, NONE"})
    void deploysWithTheSameFeatures(boolean branchBn, Skip skip) {
        LinGlo linglo = new LinGlo(narrow(3, branchBn, skip, false, DownNorm.POST, false));
        linglo.initialize(manager, 0);
        linglo.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (name.contains("bn.")) {
                                copy(wave(parameter.getShape(), 0.4, 1, 0, 1), parameter);
                            }
                        });
        LinGlo deployed = new LinGlo(narrow(3, branchBn, skip, false, DownNorm.POST, true));
        deployed.initialize(manager, 1);
        Map<String, NDArray> weights = linglo.deployWeights();
        assertEquals(weights.keySet(), deployed.namedParameters().keySet());
        deployed.namedParameters().forEach((name, p) -> copy(weights.get(name), p));
        linglo.train(false);
        deployed.train(false);
        assertArrayEquals(stageOne(linglo), stageOne(deployed), 1e-5f);
    }

    private float[] stageOne(LinGlo linglo) {
        NDArray image = wave(new Shape(2, 3, 40, 56), 1, 0.1, 0, 0);
        return NoGrad.call(() -> linglo.apply(image)).get(0).toFloatArray();
    }

    @Test
    void initializesWithTheStatedDeviations() {
        LinGlo linglo = new LinGlo(variant("b0", false));
        linglo.initialize(manager, 0);
        assertSpread(linglo, "down1.conv.weight", Math.sqrt(2.0 / (49 * 32)));
        assertSpread(linglo, "down3.conv.weight", Math.sqrt(2.0 / (9 * 160)));
        assertSpread(linglo, "stage2.0.mlp.cpe.branch4.conv.weight", Math.sqrt(2.0 / 9));
        assertSpread(linglo, "stage3.0.attn.saliency", 0.02);
        assertSpread(linglo, "stage3.0.attn.u1.weight", 0.02);
        assertSpread(linglo, "stage3.0.mlp.fc2.weight", 0.02);
        assertSpread(linglo, "stage3.0.attn.u1.bias", 0);
        assertSpread(linglo, "down2.conv.bias", 0);
        assertSpread(linglo, "stemNorm.weight", 1);
        assertSpread(linglo, "stage4.1.mlp.cpe.branch1.bn.weight", 1);
        assertSpread(linglo, "stage4.1.mlp.cpe.branch1.bn.running_var", 1);
    }

    private static void assertSpread(LinGlo linglo, String name, double expected) {
        NDArray values = linglo.namedParameters().get(name).getArray();
        assertEquals(expected, values.square().mean().sqrt().getFloat(), 0.1 * expected, name);
    }

    @Test
    void roundsOddSizesUp() {
        LinGlo linglo = new LinGlo(narrow(1, true, Skip.IDENTITY, true, DownNorm.PRE, false));
        linglo.initialize(manager, 0);
        List<NDArray> levels =
                NoGrad.call(() -> linglo.apply(manager.ones(new Shape(1, 3, 97, 131)))).levels();
        assertEquals(new Shape(1, 8, 25, 33), levels.get(0).getShape());
        assertEquals(new Shape(1, 12, 13, 17), levels.get(1).getShape());
        assertEquals(new Shape(1, 20, 7, 9), levels.get(2).getShape());
        assertEquals(new Shape(1, 16, 4, 5), levels.get(3).getShape());
    }

    @Test
    void addsAbsolutePositionsToPatches() {
        LinGlo linglo = new LinGlo(variant("without_ch", false));
        linglo.initialize(manager, 0);
        NDArray image = manager.ones(new Shape(1, 3, 40, 56));
        NDArray before = NoGrad.call(() -> linglo.apply(image)).get(0);
        assertEquals(new Shape(1, 150, 3, 4), before.getShape());
        NDArray table = linglo.namedParameters().get("pos_embed1").getArray();
        assertEquals(new Shape(1, 196, 150), table.getShape());
        table.muli(100);
        NDArray after = NoGrad.call(() -> linglo.apply(image)).get(0);
        assertTrue(after.sub(before).abs().max().getFloat() > 0.1);
    }

    @Test
    void allStagesWithoutHierarchyHaveStride16() {
        assertEquals(
                Collections.nCopies(4, new FeatureInfo(150, 16)),
                new LinGlo(variant("without_ch", false)).features());
    }

    @Test
    void stagesWithoutHierarchyNeedTheSameChannels() {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                Configs.of(
                                        LinGlo.Config.class,
                                        "variant=without_ch",
                                        "embed_dims=[30, 60, 60, 60]"));
        assertTrue(e.getMessage().contains("embed_dims: got [30, 60, 60, 60]"), e.getMessage());
        assertTrue(e.getMessage().contains("down_sampling"), e.getMessage());
    }

    @Test
    void rejectsInvalidSettings() {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () -> narrow(-1, true, Skip.IDENTITY, true, DownNorm.PRE, false));
        assertEquals("config: settings: branches: got -1, expected at least 0", e.getMessage());
    }

    private static LinGlo.Config variant(String variant, boolean deploy) {
        return Configs.of(LinGlo.Config.class, "variant=" + variant, "deploy=" + deploy);
    }

    private static LinGlo.Config narrow(
            int branches,
            boolean branchBn,
            Skip skip,
            boolean attnBias,
            DownNorm downNorm,
            boolean deploy) {
        return Configs.of(
                LinGlo.Config.class,
                "variant=b0",
                "embed_dims=[8, 12, 20, 16]",
                "depths=[1, 1, 2, 1]",
                "branches=" + branches,
                "branch_bn=" + branchBn,
                "skip=" + skip.name().toLowerCase(Locale.ROOT),
                "attn_bias=" + attnBias,
                "down_norm=" + downNorm.name().toLowerCase(Locale.ROOT),
                "deploy=" + deploy,
                "drop_path_rate=0");
    }
}
