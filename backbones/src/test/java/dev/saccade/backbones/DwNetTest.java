package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DwNetTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "tiny, 24172744",
        "base, 74347112",
        "dynamic_tiny, 51131752",
        "dynamic_base, 161597928"
    })
    void hasThePublishedNumberOfParameters(String variant, long parameters) {
        DwNet.Config config = Configs.of(DwNet.Config.class, "variant=" + variant);
        assertEquals(parameters, BackboneSummary.classifierParameters(config, config.build()));
    }

    @Test
    void filtersDependOnTheImage() {
        DwNet.DynamicDepthwise layer = new DwNet.DynamicDepthwise(8, 3, BatchNormType.BN);
        layer.initialize(manager, 0);
        layer.train(false);
        layer.namedParameters().get("bias").getArray().addi(0.5);
        NDArray images = manager.randomNormal(new Shape(2, 8, 5, 4));
        Grid x = new Grid(images);
        Grid reduce = weight(layer, "conv1");
        Grid expand = weight(layer, "conv2");
        Grid expandBias = new Grid(layer.namedParameters().get("conv2.bias").getArray());
        new Grid(NoGrad.call(() -> layer.apply(images)))
                .assertIs(
                        i -> {
                            double sum = 0.5;
                            for (int tap = 0; tap < 9; tap++) {
                                int row = i[1] * 9 + tap;
                                double filter = expandBias.at(row);
                                for (int h = 0; h < 2; h++) {
                                    filter += expand.at(row, h, 0, 0) * hidden(x, i[0], reduce, h);
                                }
                                int dy = tap / 3 - 1;
                                int dx = tap % 3 - 1;
                                sum += filter * x.at(i[0], i[1], i[2] + dy, i[3] + dx);
                            }
                            return sum;
                        });
    }

    private static Grid weight(Module layer, String conv) {
        return new Grid(layer.namedParameters().get(conv + ".weight").getArray());
    }

    private static double hidden(Grid x, int image, Grid reduce, int h) {
        double sum = 0;
        for (int c = 0; c < x.size(1); c++) {
            double mean = 0;
            for (int y = 0; y < x.size(2); y++) {
                for (int z = 0; z < x.size(3); z++) {
                    mean += x.at(image, c, y, z) / x.size(2) / x.size(3);
                }
            }
            sum += reduce.at(h, c, 0, 0) * mean;
        }
        return Math.max(0, sum / Math.sqrt(1 + 1e-5));
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void everyParameterGetsAGradient(boolean dynamic) {
        DwNet net = small(dynamic);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray x = manager.randomNormal(new Shape(2, 3, 36, 50));
            collector.backward(
                    net.apply(x).levels().stream()
                            .map(level -> level.pow(3).sum())
                            .reduce(NDArray::add)
                            .orElseThrow());
        }
        net.namedParameters()
                .forEach(
                        (name, parameter) ->
                                assertEquals(
                                        !Module.isBuffer(parameter),
                                        parameter.getArray().hasGradient(),
                                        name));
        NDArray filters =
                net.namedParameters()
                        .get(
                                "layers.1.blocks.1.attn2conv.conv."
                                        + (dynamic ? "conv2.weight" : "weight"))
                        .getArray();
        assertTrue(filters.getGradient().abs().sum().getFloat() > 0);
    }

    @Test
    void dynamicFiltersRequireTwoImagesInTraining() {
        DwNet net = small(true);
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () -> net.apply(manager.ones(new Shape(1, 3, 32, 32))));
        assertTrue(e.getMessage().endsWith("at least 2 images per batch"), e.getMessage());
    }

    private DwNet small(boolean dynamic) {
        DwNet net =
                new DwNet(
                        Configs.of(
                                DwNet.Config.class,
                                "embed_dim=8",
                                "depths=[1, 2, 1, 1]",
                                "window_size=5",
                                "mlp_ratio=2",
                                "dynamic=" + dynamic,
                                "ape=true",
                                "pretrain_img_size=32",
                                "drop_path_rate=0"));
        net.initialize(manager, 0);
        return net;
    }
}
