package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.GradientCollector;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.structures.FeaturePyramid;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

class ResNetTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "18, 11176512, 157504",
        "34, 21284672, 0",
        "50, 23508032, 225344",
        "101, 42500160, 225344",
        "152, 58143808, 225344"
    })
    void hasThePublishedNumberOfParameters(int depth, long parameters, long frozenWithStage1) {
        assertEquals(parameters, learned(narrowOnlyIn(depth, -1)));
        if (frozenWithStage1 > 0) {
            assertEquals(parameters - frozenWithStage1, learned(narrowOnlyIn(depth, 1)));
        }
    }

    /** Numbers of torchvision and Xie et al. 2017, without the 1000 classes. */
    @ParameterizedTest
    @CsvSource({
        "resnext50_32x4d, 25028904",
        "resnext101_32x4d, 44177704",
        "resnext101_64x4d, 83455272",
        "resnext101_32x8d, 88791336"
    })
    void hasThePublishedNumberOfParametersWithGroups(String name, long withClassifier) {
        ResNet.Config config = Configs.<ResNet.Config>variants(ResNet.Config.class).get(name);
        assertEquals(withClassifier - 2048 * 1000 - 1000, learned(config.build()));
    }

    @ParameterizedTest
    @CsvSource({"1, 64, 8, 8", "2, 64, 128, 64", "8, 1, 8, 1", "3, 5, 15, 5"})
    void groupsWidenOnlyTheMiddleOfABottleneck(int groups, int baseWidth, int out, int in) {
        Map<String, Parameter> parameters =
                new ResNet(grouped(50, groups, baseWidth)).namedParameters();
        assertEquals(new Shape(out, in, 3, 3), parameters.get("layer1.0.conv2.weight").getShape());
        assertEquals(
                new Shape(8L * out, 8L * in, 3, 3),
                parameters.get("layer4.1.conv2.weight").getShape());
        assertEquals(new Shape(32, out, 1, 1), parameters.get("layer1.0.conv3.weight").getShape());
    }

    private static ResNet.Config grouped(int depth, int groups, int baseWidth) {
        return Configs.with(config(depth, -1, true), "groups=" + groups, "base_width=" + baseWidth);
    }

    private static ResNet narrowOnlyIn(int depth, int frozenStages) {
        return new ResNet(
                Configs.of(ResNet.Config.class, "depth=" + depth, "frozen_stages=" + frozenStages));
    }

    private static long learned(ResNet resnet) {
        return resnet.namedParameters().values().stream()
                .filter(p -> !Module.isBuffer(p) && p.requiresGradient())
                .mapToLong(p -> p.getShape().size())
                .sum();
    }

    @ParameterizedTest
    @CsvSource({"18, 11195744", "50, 23527264", "101, 42519392"})
    void hasTheParametersOfMmsegmentationWithADeepStem(int depth, long parameters) {
        ResNet resnet = deep(depth, 64, 64, -1);
        assertEquals(parameters, learned(resnet));
        assertEquals(
                Set.of("stem.0", "stem.1", "stem.3", "stem.4", "stem.6", "stem.7"),
                resnet.namedParameters().keySet().stream()
                        .filter(name -> name.startsWith("stem") || !name.startsWith("layer"))
                        .map(name -> name.substring(0, name.lastIndexOf('.')))
                        .collect(Collectors.toSet()));
        assertEquals(
                0,
                deep(depth, 64, 64, 0).namedParameters().entrySet().stream()
                        .filter(p -> p.getKey().startsWith("stem"))
                        .filter(p -> p.getValue().requiresGradient())
                        .filter(p -> !Module.isBuffer(p.getValue()))
                        .count());
    }

    @Test
    void deepStemKeepsTheMapSizes() {
        ResNet resnet = deep(18, 16, 8, -1);
        resnet.initialize(manager, 0);
        FeaturePyramid levels =
                NoGrad.call(() -> resnet.apply(manager.ones(new Shape(2, 3, 97, 131))));
        assertEquals(new Shape(2, 8, 25, 33), levels.get(0).getShape());
        assertEquals(new Shape(2, 64, 4, 5), levels.get(3).getShape());
    }

    private static ResNet deep(int depth, int stemChannels, int baseChannels, int frozenStages) {
        return new ResNet(
                Configs.of(
                        ResNet.Config.class,
                        "depth=" + depth,
                        "stem_channels=" + stemChannels,
                        "deep_stem=true",
                        "base_channels=" + baseChannels,
                        "frozen_stages=" + frozenStages,
                        "norm_eval=false"));
    }

    @ParameterizedTest
    @CsvSource({"18", "50"})
    void outputMatchesFeaturesForOddSizes(int depth) {
        ResNet resnet = narrow(depth, -1, true);
        FeaturePyramid levels =
                NoGrad.call(() -> resnet.apply(manager.ones(new Shape(2, 3, 97, 131))));
        for (int l = 0; l < 4; l++) {
            FeatureInfo info = resnet.features().get(l);
            int stride = info.stride();
            assertEquals(
                    new Shape(2, info.channels(), ceil(97, stride), ceil(131, stride)),
                    levels.get(l).getShape());
        }
    }

    private static int ceil(int size, int stride) {
        return (size + stride - 1) / stride;
    }

    @Test
    void onlyTrainedParametersGetGradients() {
        ResNet resnet = narrow(50, 1, true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray x = manager.randomNormal(new Shape(1, 3, 64, 64));
            collector.backward(resnet.apply(x).get(3).sum());
        }
        resnet.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            boolean frozen =
                                    name.startsWith("conv1")
                                            || name.startsWith("bn1")
                                            || name.startsWith("layer1");
                            assertEquals(
                                    !frozen && !Module.isBuffer(parameter),
                                    parameter.getArray().hasGradient(),
                                    name);
                        });
        Parameter first = resnet.namedParameters().get("layer2.0.bn3.weight");
        assertTrue(first.getArray().getGradient().abs().sum().getFloat() > 0);
    }

    @Test
    void normEvalKeepsRunningStatistics() {
        assertArrayEquals(runningMeanAfterTraining(true, -1), new float[16]);
        assertFalse(runningMeanAfterTraining(false, -1)[0] == 0);
        assertArrayEquals(runningMeanAfterTraining(false, 0), new float[16]);
    }

    private float[] runningMeanAfterTraining(boolean normEval, int frozenStages) {
        ResNet resnet = narrow(18, frozenStages, normEval);
        resnet.train(true);
        NoGrad.call(() -> resnet.apply(manager.ones(new Shape(1, 3, 64, 64))));
        return resnet.namedParameters().get("bn1.running_mean").getArray().toFloatArray();
    }

    @Test
    void sameSeedGivesTheSameInitialization() {
        assertArrayEquals(values(7), values(7));
        assertFalse(Arrays.equals(values(7), values(8)));
    }

    private float[] values(long seed) {
        ResNet resnet = new ResNet(config(18, -1, true));
        resnet.initialize(manager, seed);
        return resnet.namedParameters().get("layer3.1.conv2.weight").getArray().toFloatArray();
    }

    @Test
    void countsTheMultiplyAddsOfThePaper() {
        ResNet resnet = new ResNet(Configs.of(ResNet.Config.class));
        resnet.initialize(manager, 0);
        long count =
                MultiplyAdds.count(
                        () ->
                                NoGrad.call(
                                        () ->
                                                resnet.apply(
                                                        manager.ones(new Shape(1, 3, 224, 224)))));
        assertEquals(4.09e9, (double) count, 0.01e9);
    }

    @Test
    void rejectsInvalidSettings() {
        for (Map.Entry<String, Runnable> bad :
                Map.<String, Runnable>of(
                                "depth", () -> config(19, -1, true),
                                "frozen_stages", () -> config(18, 5, true),
                                "stem_channels", () -> deep(18, 15, 8, -1),
                                "groups", () -> grouped(34, 2, 4),
                                "base_width", () -> grouped(50, 1, 4))
                        .entrySet()) {
            String message = assertThrows(SaccadeException.class, bad.getValue()::run).getMessage();
            assertTrue(message.contains(" " + bad.getKey()), message);
        }
    }

    private ResNet narrow(int depth, int frozenStages, boolean normEval) {
        ResNet resnet = new ResNet(config(depth, frozenStages, normEval));
        resnet.initialize(manager, 0);
        return resnet;
    }

    private static ResNet.Config config(int depth, int frozenStages, boolean normEval) {
        return Configs.of(
                ResNet.Config.class,
                "depth=" + depth,
                "stem_channels=16",
                "base_channels=8",
                "frozen_stages=" + frozenStages,
                "norm_eval=" + normEval,
                "zero_init_residual=false");
    }
}
