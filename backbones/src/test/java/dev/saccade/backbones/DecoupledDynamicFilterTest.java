package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.Arrays;

class DecoupledDynamicFilterTest {

    private static final int CHANNELS = 6;
    private static final int KERNEL = 3;
    private static final int TAPS = KERNEL * KERNEL;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @BeforeEach
    void seed() {
        Engine.getEngine("PyTorch").setRandomSeed(0);
    }

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void multipliesAFilterPerChannelWithAFilterPerPosition() {
        Shape shape = new Shape(2, 4, 5, CHANNELS);
        LayerLoops loops = loops(shape);
        double[][][] channel = {channelFilters(loops, 0), channelFilters(loops, 1)};
        loops.output()
                .assertIs(
                        i -> {
                            double[] spatial = spatialFilter(loops, i[0], i[1], i[2]);
                            double sum = 0;
                            for (int k = 0; k < TAPS; k++) {
                                double near =
                                        loops.input()
                                                .at(
                                                        i[0],
                                                        i[1] + k / KERNEL - 1,
                                                        i[2] + k % KERNEL - 1,
                                                        i[3]);
                                sum += near * channel[i[0]][i[3]][k] * spatial[k];
                            }
                            return sum;
                        });
    }

    private static double[][] channelFilters(LayerLoops loops, int n) {
        Grid map = loops.input();
        double[] average = new double[CHANNELS];
        for (int c = 0; c < CHANNELS; c++) {
            for (int p = 0; p < map.size(1) * map.size(2); p++) {
                average[c] += map.at(n, p / map.size(2), p % map.size(2), c);
            }
            average[c] /= map.size(1) * map.size(2);
        }
        double[] hidden = convolved(loops, "channel_branch.1", average);
        Arrays.setAll(hidden, h -> Math.max(0, hidden[h]));
        double[] all = convolved(loops, "channel_branch.3", hidden);
        Grid std = loops.grid("channel_branch.4.std");
        double[][] filters = new double[CHANNELS][];
        for (int c = 0; c < CHANNELS; c++) {
            filters[c] = normalized(Arrays.copyOfRange(all, c * TAPS, (c + 1) * TAPS));
            for (int k = 0; k < TAPS; k++) {
                filters[c][k] *= std.at(c * TAPS + k);
            }
        }
        return filters;
    }

    private static double[] spatialFilter(LayerLoops loops, int n, int y, int x) {
        double[] token = new double[CHANNELS];
        Arrays.setAll(token, c -> loops.input().at(n, y, x, c));
        double[] filter = normalized(convolved(loops, "spatial_branch.0", token));
        Arrays.setAll(filter, k -> filter[k] * Math.sqrt(2) / KERNEL);
        return filter;
    }

    private static double[] convolved(LayerLoops loops, String name, double[] values) {
        Grid weight = loops.grid(name + ".weight");
        Grid bias = loops.grid(name + ".bias");
        double[] result = new double[weight.size(0)];
        for (int o = 0; o < result.length; o++) {
            result[o] = bias.at(o);
            for (int c = 0; c < values.length; c++) {
                result[o] += weight.at(o, c, 0, 0) * values[c];
            }
        }
        return result;
    }

    /** Divides by the standard deviation with n - 1, as PyTorch. */
    private static double[] normalized(double[] values) {
        double mean = Arrays.stream(values).average().orElseThrow();
        double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
        double std = Math.sqrt(squares / (values.length - 1));
        return Arrays.stream(values).map(v -> (v - mean) / std).toArray();
    }

    @Test
    void hasTheGradientsOfTheFilters() {
        loops(new Shape(1, 4, 3, CHANNELS)).assertGradients(manager);
    }

    private LayerLoops loops(Shape map) {
        return new LayerLoops(
                manager, new DecoupledDynamicFilter(CHANNELS, KERNEL), manager.randomNormal(map));
    }

    @Test
    void hasTheParametersAndMultiplyAddsOfThePaper() {
        DwConvSwin.Config config = Configs.of(DwConvSwin.Config.class, "variant=ddf_tiny");
        DwConvSwin net = config.build();
        assertEquals(46e6, (double) BackboneSummary.classifierParameters(config, net), 0.5e6);
        net.initialize(manager, 0);
        long count =
                MultiplyAdds.count(
                        () ->
                                NoGrad.call(
                                        () -> net.apply(manager.ones(new Shape(1, 3, 224, 224)))));
        assertEquals(3.9e9, (double) count, 0.05e9);
    }

    @Test
    void rejectsHeadsAndFiltersWithASingleTap() {
        assertRejected(
                "config: settings: num_heads: got [3, 6, 12, 24], expected none with filters: ddf",
                "filters=ddf",
                "num_heads=[3, 6, 12, 24]");
        assertRejected(
                "config: settings: kernel_size: got 1, expected at least 3 with filters: ddf",
                "filters=ddf",
                "kernel_size=1");
    }

    private static void assertRejected(String message, String... settings) {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.of(DwConvSwin.Config.class, settings));
        assertEquals(message, e.getMessage());
    }
}
