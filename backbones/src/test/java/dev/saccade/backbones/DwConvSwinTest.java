package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DwConvSwinTest {

    private static final int CHANNELS = 4;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @BeforeEach
    void seed() {
        Engine.getEngine("PyTorch").setRandomSeed(0);
    }

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, CHANNELS})
    void channelsOfAHeadShareAFilter(int heads) {
        LayerLoops loops = loops(heads, new Shape(2, 5, 3, CHANNELS));
        LayerLoops.Linear before = loops.linear("pre_proj");
        Grid filters = loops.grid("conv.weight");
        Grid bias = loops.grid("conv.bias");
        Grid weight = loops.grid("post_proj.weight");
        Grid postBias = loops.grid("post_proj.bias");
        loops.output()
                .assertIs(
                        i -> {
                            double sum = postBias.at(i[3]);
                            for (int c = 0; c < CHANNELS; c++) {
                                double convolved = bias.at(c);
                                int head = c / (CHANNELS / heads);
                                for (int dy = -2; dy <= 2; dy++) {
                                    for (int dx = -2; dx <= 2; dx++) {
                                        convolved +=
                                                filters.at(head, 0, dy + 2, dx + 2)
                                                        * before.within(
                                                                i[0], i[1] + dy, i[2] + dx, c);
                                    }
                                }
                                sum += weight.at(i[3], c) * convolved;
                            }
                            return sum;
                        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, CHANNELS})
    void hasTheGradientsOfTheConvolution(int heads) {
        loops(heads, new Shape(1, 4, 3, CHANNELS)).assertGradients(manager);
    }

    private LayerLoops loops(int heads, Shape map) {
        return new LayerLoops(
                manager, DwConvSwin.convolution(CHANNELS, heads, 5), manager.randomNormal(map));
    }

    @Test
    void hasTheParametersAndMultiplyAddsOfThePaper() {
        DwConvSwin.Config config = Configs.of(DwConvSwin.Config.class);
        DwConvSwin net = config.build();
        assertEquals(24163912, BackboneSummary.classifierParameters(config, net));
        net.initialize(manager, 0);
        NDArray image = manager.ones(new Shape(1, 3, 224, 224));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> net.apply(image)));
        assertEquals(3.727e9, (double) count, 0.001e9);
    }

    @Test
    void rejectsHeadsThatDoNotDivideTheChannels() {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.of(DwConvSwin.Config.class, "num_heads=[3, 6, 12, 23]"));
        assertEquals(
                "config: settings: num_heads: got [3, 6, 12, 23], expected divisors of the"
                        + " channels; stage 3 has 768 channels",
                e.getMessage());
    }
}
