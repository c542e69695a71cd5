package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.backbones.LayerLoops.KeyToken;
import dev.saccade.backbones.UnifiedSwin.Norm;
import dev.saccade.backbones.UnifiedSwin.Region;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.attention.FilterRegion;
import dev.saccade.core.ops.attention.NeighborRegion;
import dev.saccade.core.ops.attention.WindowRegion;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

class UnifiedSwinTest {

    private static final int CHANNELS = 4;
    private static final int HEADS = 2;
    private static final int WINDOW = 3;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @BeforeEach
    void seed() {
        Engine.getEngine("PyTorch").setRandomSeed(0);
    }

    @AfterEach
    void free() {
        manager.close();
    }

    static Stream<Arguments> regionsNormsAndNets() {
        return Stream.<FilterRegion>of(
                        new WindowRegion(WINDOW, 0),
                        new WindowRegion(WINDOW, 1),
                        new NeighborRegion(3),
                        new NeighborRegion(5))
                .flatMap(
                        region ->
                                Arrays.stream(Norm.values())
                                        .flatMap(
                                                norm ->
                                                        Configs.variants(UnifiedSwin.Config.class)
                                                                .values()
                                                                .stream()
                                                                .map(config -> config.variant())
                                                                .map(
                                                                        net ->
                                                                                Arguments.of(
                                                                                        region,
                                                                                        norm,
                                                                                        net))));
    }

    @ParameterizedTest
    @MethodSource("regionsNormsAndNets")
    void matchesEquation4(FilterRegion region, Norm norm, String net) {
        UnifiedSwin.Config config = config(net, norm, Region.WINDOW, WINDOW);
        LayerLoops loops = attention(config, region, new Shape(2, 7, 8, CHANNELS));
        loops.output().assertIs(new Equation4(loops, config, region)::at);
    }

    @ParameterizedTest
    @MethodSource("regionsNormsAndNets")
    void gradientsMatchEquation4(FilterRegion region, Norm norm, String net) {
        UnifiedSwin.Config config = config(net, norm, Region.WINDOW, WINDOW);
        attention(config, region, new Shape(1, 4, 5, CHANNELS)).assertGradients(manager);
    }

    private LayerLoops attention(UnifiedSwin.Config config, FilterRegion region, Shape map) {
        return new LayerLoops(
                manager,
                new UnifiedSwin.Attention(config, CHANNELS, HEADS, region),
                manager.randomNormal(map));
    }

    /** The equation as loops. */
    private static final class Equation4 {

        private final LayerLoops loops;
        private final Map<String, Grid> tables = new HashMap<>();
        private final UnifiedSwin.Config config;
        private final FilterRegion region;
        private final LayerLoops.Linear qkv;
        private final int q;
        private final int k;
        private final int v;

        Equation4(LayerLoops loops, UnifiedSwin.Config config, FilterRegion region) {
            this.loops = loops;
            this.config = config;
            this.region = region;
            qkv = loops.linear("qkv");
            q = 0;
            k = config.qk() || config.qRk() ? CHANNELS : 0;
            v = k + (config.qk() || config.rqK() ? CHANNELS : 0);
        }

        double at(int[] index) {
            double sum = table("proj.bias").at(index[3]);
            for (int c = 0; c < CHANNELS; c++) {
                sum += table("proj.weight").at(index[3], c) * mixed(index, c);
            }
            return sum;
        }

        private double mixed(int[] i, int channel) {
            List<KeyToken> keys =
                    region instanceof NeighborRegion near
                            ? LayerLoops.neighbors(near.kernel(), i[1], i[2])
                            : loops.window(WINDOW, ((WindowRegion) region).shift(), i[1], i[2]);
            int head = channel / (CHANNELS / HEADS);
            double[] values = keys.stream().mapToDouble(key -> value(i, key, head)).toArray();
            double[] filter = filter(values, keys);
            double sum = 0;
            for (int j = 0; j < filter.length; j++) {
                sum += filter[j] * projected(i[0], keys.get(j), v + channel);
            }
            return sum;
        }

        private double value(int[] i, KeyToken key, int head) {
            int d = CHANNELS / HEADS;
            double sum = 0;
            for (int c = 0; c < d; c++) {
                int row = head * d + c;
                double queried = qkv.at(i[0], i[1], i[2], q + row) / Math.sqrt(d);
                double keyed = projected(i[0], key, k + row) / Math.sqrt(d);
                sum += config.qk() ? queried * keyed * Math.sqrt(d) : 0;
                sum += config.qRk() ? queried * table("rk").at(head, c, offset(key)) : 0;
                sum += config.rqK() ? keyed * table("rq").at(head, c, offset(key)) : 0;
            }
            return sum + (config.rb() ? table("rb").at(head, offset(key)) : 0);
        }

        private Grid table(String name) {
            return tables.computeIfAbsent(name, loops::grid);
        }

        private int offset(KeyToken key) {
            int reach = region instanceof NeighborRegion near ? near.kernel() / 2 : WINDOW - 1;
            return (key.dy() + reach) * (2 * reach + 1) + key.dx() + reach;
        }

        /** Window padding is projected; tokens around the map are 0. */
        private double projected(int n, KeyToken key, int row) {
            return region instanceof NeighborRegion
                    ? qkv.within(n, key.y(), key.x(), row)
                    : qkv.at(n, key.y(), key.x(), row);
        }

        private double[] filter(double[] values, List<KeyToken> keys) {
            double[] filter = new double[values.length];
            double[] seen = keys.stream().mapToDouble(key -> key.seen() ? 1 : 0).toArray();
            double count = Arrays.stream(seen).sum();
            double mean = 0;
            double square = 0;
            double exponentials = 0;
            for (int j = 0; j < values.length; j++) {
                mean += seen[j] * values[j] / count;
                square += seen[j] * values[j] * values[j] / count;
                exponentials += Math.exp(values[j] - 100 * (1 - seen[j]));
            }
            for (int j = 0; j < values.length; j++) {
                filter[j] =
                        switch (config.norm()) {
                            case SOFTMAX ->
                                    Math.exp(values[j] - 100 * (1 - seen[j])) / exponentials;
                            case FILTER_NORM ->
                                    seen[j]
                                            * ((values[j] - mean)
                                                            / Math.sqrt(square - mean * mean + 1e-5)
                                                            * table("norm.weight").at(j)
                                                    + table("norm.bias").at(j));
                            case IDENTITY -> seen[j] * values[j];
                        };
            }
            return filter;
        }
    }

    /** With its terms, softmax and windows it equals Swin; tables are indexed in reverse. */
    @Test
    void matchesSwinWithItsTerms() {
        UnifiedSwin unified = new UnifiedSwin(config("swin", Norm.SOFTMAX, Region.WINDOW, WINDOW));
        Swin swin =
                new Swin(
                        Configs.of(
                                Swin.Config.class,
                                "embed_dim=" + CHANNELS,
                                "depths=[2, 1, 2, 1]",
                                "num_heads=[1, 2, 2, 4]",
                                "window_size=" + WINDOW,
                                "drop_path_rate=0"));
        unified.initialize(manager, 0);
        swin.initialize(manager, 0);
        Map<String, Parameter> parameters = unified.namedParameters();
        swin.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            NDArray target = parameter.getArray();
                            NDArray values =
                                    name.endsWith("table")
                                            ? parameters
                                                    .get(
                                                            name.replace(
                                                                    "relative_position_bias_table",
                                                                    "rb"))
                                                    .getArray()
                                                    .muli(20)
                                                    .flip(1)
                                                    .transpose()
                                            : parameters.get(name).getArray();
                            target.subi(target).addi(values);
                        });
        NDArray image = manager.randomNormal(new Shape(1, 3, 50, 37));
        List<NDArray> expected = NoGrad.call(() -> swin.apply(image)).levels();
        List<NDArray> actual = NoGrad.call(() -> unified.apply(image)).levels();
        for (int level = 0; level < 4; level++) {
            double deviation = expected.get(level).sub(actual.get(level)).abs().max().getFloat();
            assertEquals(0, deviation, 2e-5);
        }
    }

    /** With the bias term, identity and neighborhoods it is a depth-wise convolution. */
    @Test
    void biasTermAloneIsADepthwiseConvolution() {
        NDArray tokens = manager.randomNormal(new Shape(2, 6, 9, CHANNELS));
        LayerLoops unified =
                new LayerLoops(
                        manager,
                        new UnifiedSwin.Attention(
                                config("net4", Norm.IDENTITY, Region.NEIGHBOR, WINDOW),
                                CHANNELS,
                                HEADS,
                                new NeighborRegion(7)),
                        tokens);
        LayerLoops convolution =
                new LayerLoops(manager, DwConvSwin.convolution(CHANNELS, HEADS, 7), tokens);
        copy(unified.parameter("qkv.weight"), convolution.parameter("pre_proj.weight"));
        copy(unified.parameter("qkv.bias"), convolution.parameter("pre_proj.bias"));
        copy(unified.parameter("rb"), convolution.parameter("conv.weight"));
        copy(manager.zeros(new Shape(CHANNELS)), convolution.parameter("conv.bias"));
        copy(unified.parameter("proj.weight"), convolution.parameter("post_proj.weight"));
        copy(unified.parameter("proj.bias"), convolution.parameter("post_proj.bias"));
        Grid expected = convolution.output();
        unified.output().assertIs(expected::at);
    }

    private static void copy(NDArray values, NDArray target) {
        target.subi(target).addi(values.reshape(target.getShape()));
    }

    @Test
    void neighborhoodsReplaceWindowsExceptInTheLastStage() {
        Map<String, Parameter> parameters =
                new UnifiedSwin(config("net7", Norm.FILTER_NORM, Region.NEIGHBOR, WINDOW))
                        .namedParameters();
        assertEquals(new Shape(2, 49), parameters.get("layers.2.blocks.1.attn.rb").getShape());
        assertEquals(
                new Shape(49), parameters.get("layers.2.blocks.1.attn.norm.weight").getShape());
        assertEquals(new Shape(4, 25), parameters.get("layers.3.blocks.0.attn.rb").getShape());
        assertEquals(new Shape(9), parameters.get("layers.3.blocks.0.attn.norm.weight").getShape());
    }

    /** Relative to Swin-T: two embedding tables per block, or no queries and keys. */
    @ParameterizedTest
    @CsvSource({"swin, 0", "net7, 169", "net4, 0"})
    void countsTheParametersOfItsTerms(String net, long embeddings) {
        UnifiedSwin.Config config = Configs.of(UnifiedSwin.Config.class, "variant=" + net);
        long expected = 28288354;
        for (int[] stage : new int[][] {{2, 96}, {2, 192}, {6, 384}, {2, 768}}) {
            long c = stage[1];
            long without = net.equals("net4") ? 2 * (c * c + c) : 0;
            expected += stage[0] * (2 * embeddings * c - without);
        }
        assertEquals(expected, BackboneSummary.classifierParameters(config, config.build()));
    }

    @Test
    void requiresAtLeastOneTerm() {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                Configs.of(
                                        UnifiedSwin.Config.class,
                                        "variant=net1",
                                        "embed_dim=8",
                                        "depths=[1, 1, 1, 1]",
                                        "num_heads=[1, 1, 1, 1]",
                                        "qk=false",
                                        "q_rk=false",
                                        "rq_k=false",
                                        "rb=false",
                                        "drop_path_rate=0",
                                        "out_indices=[0]"));
        assertTrue(e.getMessage().contains("qk, q_rk, rq_k, rb: got none"), e.getMessage());
    }

    private static UnifiedSwin.Config config(String net, Norm norm, Region region, int window) {
        return Configs.of(
                UnifiedSwin.Config.class,
                "variant=" + net,
                "embed_dim=" + CHANNELS,
                "depths=[2, 1, 2, 1]",
                "num_heads=[1, 2, 2, 4]",
                "norm=" + norm.name().toLowerCase(Locale.ROOT),
                "region=" + region.name().toLowerCase(Locale.ROOT),
                "window_size=" + window,
                "drop_path_rate=0");
    }
}
