package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.backbones.DynamicConvSwin.Attention;
import dev.saccade.backbones.DynamicConvSwin.ScaleMode;
import dev.saccade.backbones.LayerLoops.KeyToken;
import dev.saccade.config.Configs;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.ops.attention.WindowRegion;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

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

class DynamicConvSwinTest {

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

    static Stream<Arguments> attentions() {
        return Arrays.stream(Attention.values())
                .flatMap(
                        attention ->
                                Stream.of(
                                        Arguments.of(attention, 0, true, false),
                                        Arguments.of(attention, 1, true, false),
                                        Arguments.of(attention, 1, true, true),
                                        Arguments.of(attention, 1, false, false)));
    }

    @ParameterizedTest
    @MethodSource("attentions")
    void matchesTheFormula(Attention attention, int shift, boolean biased, boolean biasOutside) {
        DynamicConvSwin.Config config = config(attention, biased, biasOutside);
        LayerLoops loops = loops(config, shift, new Shape(2, 7, 8, CHANNELS));
        loops.output().assertIs(new Formula(loops, config, shift)::at);
    }

    @ParameterizedTest
    @MethodSource("attentions")
    void gradientsMatchTheFormula(
            Attention attention, int shift, boolean biased, boolean biasOutside) {
        loops(config(attention, biased, biasOutside), shift, new Shape(1, 4, 5, CHANNELS))
                .assertGradients(manager);
    }

    private LayerLoops loops(DynamicConvSwin.Config config, int shift, Shape map) {
        WindowRegion region = new WindowRegion(WINDOW, shift);
        Layer layer =
                config.attention() == Attention.DEPTHWISE
                        ? new DynamicConvSwin.Depthwise(config, CHANNELS, HEADS, region)
                        : new DynamicConvSwin.Dense(config, CHANNELS, HEADS, region);
        return new LayerLoops(manager, layer, manager.randomNormal(map));
    }

    /** The formulas of the attentions as loops. */
    private static final class Formula {

        private final LayerLoops loops;
        private final Map<String, Grid> tables = new HashMap<>();
        private final DynamicConvSwin.Config config;
        private final int shift;
        private final LayerLoops.Linear projected;

        Formula(LayerLoops loops, DynamicConvSwin.Config config, int shift) {
            this.loops = loops;
            this.config = config;
            this.shift = shift;
            projected = loops.linear(config.attention() == Attention.DEPTHWISE ? "qk" : "qkv");
        }

        private Grid table(String name) {
            return tables.computeIfAbsent(name, loops::grid);
        }

        double at(int[] i) {
            List<KeyToken> keys = loops.window(WINDOW, shift, i[1], i[2]);
            double sum = table("proj.bias").at(i[3]);
            for (int c = 0; c < CHANNELS; c++) {
                sum +=
                        table("proj.weight").at(i[3], c)
                                * (config.attention() == Attention.DEPTHWISE
                                        ? depthwise(i, keys, c)
                                        : dense(i, keys, c));
            }
            return sum;
        }

        private double depthwise(int[] i, List<KeyToken> keys, int c) {
            double mean = 0;
            double weighted = 0;
            long seen = keys.stream().filter(KeyToken::seen).count();
            for (KeyToken key : keys) {
                if (key.seen()) {
                    double k = projected.at(i[0], key.y(), key.x(), CHANNELS + c);
                    mean += k / seen;
                    weighted += bias(key, c / (CHANNELS / HEADS)) * k;
                }
            }
            return projected.at(i[0], i[1], i[2], c) * mean + weighted;
        }

        private double bias(KeyToken key, int head) {
            if (!config.relativePositionBias()) {
                return 0;
            }
            int row = (WINDOW - 1 - key.dy()) * (2 * WINDOW - 1) + WINDOW - 1 - key.dx();
            return table("relative_position_bias_table").at(row, head);
        }

        private double dense(int[] i, List<KeyToken> keys, int channel) {
            int head = channel / (CHANNELS / HEADS);
            double[] values = keys.stream().mapToDouble(key -> value(i, key, head)).toArray();
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
            double sum = 0;
            for (int j = 0; j < values.length; j++) {
                KeyToken key = keys.get(j);
                double normalized = (values[j] - mean) / Math.sqrt(square - mean * mean + 1e-5);
                double filter =
                        switch (config.attention()) {
                            case SOFTMAX ->
                                    Math.exp(values[j] - 100 * (1 - seen[j])) / exponentials;
                            case NONE, SCALING -> values[j];
                            case SCALING_RELU -> Math.max(0, values[j]);
                            case LAYERNORM -> affine(normalized, j);
                            case LAYERNORM_RELU -> Math.max(0, affine(normalized, j));
                            case DEPTHWISE -> throw new AssertionError();
                        };
                double outside = config.biasOutside() ? bias(key, head) : 0;
                sum +=
                        seen[j]
                                * (filter + outside)
                                * projected.at(i[0], key.y(), key.x(), 2 * CHANNELS + channel);
            }
            return sum;
        }

        private double affine(double normalized, int j) {
            return normalized * table("norm.weight").at(j) + table("norm.bias").at(j);
        }

        private double value(int[] i, KeyToken key, int head) {
            int d = CHANNELS / HEADS;
            double product = 0;
            for (int row = head * d; row < head * d + d; row++) {
                product +=
                        projected.at(i[0], i[1], i[2], row)
                                * projected.at(i[0], key.y(), key.x(), CHANNELS + row);
            }
            double scaled =
                    config.scaleMode() == ScaleMode.HEAD_DIM ? product / d : product / Math.sqrt(d);
            return config.biasOutside() ? scaled : scaled + bias(key, head);
        }
    }

    /** Its parameters also have Swin's names. */
    @Test
    void matchesSwinWithSoftmax() {
        DynamicConvSwin net =
                new DynamicConvSwin(
                        Configs.of(DynamicConvSwin.Config.class, "variant=softmax_tiny"));
        Swin swin = new Swin(Configs.of(Swin.Config.class, "variant=tiny"));
        net.initialize(manager, 3);
        swin.initialize(manager, 3);
        net.train(false);
        swin.train(false);
        NDArray image = manager.randomNormal(new Shape(1, 3, 64, 96));
        NDArray expected = NoGrad.call(() -> swin.apply(image)).get(3);
        NDArray actual = NoGrad.call(() -> net.apply(image)).get(3);
        assertEquals(0, expected.sub(actual).abs().max().getFloat(), 2e-5);
    }

    @ParameterizedTest
    @CsvSource({
        "softmax_tiny, 28288354",
        "scaling_relu_tiny, 28288354",
        "layernorm_relu_tiny, 28289530",
        "depthwise_tiny, 26850376",
        "depthwise_small, 45671218",
        "depthwise_base, 80776608",
        "depthwise_large, 180810364"
    })
    void hasThePublishedNumberOfParameters(String variant, long parameters) {
        DynamicConvSwin.Config config =
                Configs.of(DynamicConvSwin.Config.class, "variant=" + variant);
        assertEquals(parameters, BackboneSummary.classifierParameters(config, config.build()));
    }

    /** The paper also counts normalizations and the mean of the keys. */
    @ParameterizedTest
    @CsvSource({"scaling_tiny, 4.508e9", "depthwise_tiny, 4.141e9"})
    void countsTheMultiplyAddsOfThePaper(String variant, double published) {
        DynamicConvSwin net =
                new DynamicConvSwin(Configs.of(DynamicConvSwin.Config.class, "variant=" + variant));
        net.initialize(manager, 0);
        NDArray image = manager.ones(new Shape(1, 3, 224, 224));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> net.apply(image)));
        assertEquals(published, (double) count, 0.07e9);
    }

    private static DynamicConvSwin.Config config(
            Attention attention, boolean biased, boolean biasOutside) {
        String name = attention.name().toLowerCase(Locale.ROOT);
        return Configs.of(
                DynamicConvSwin.Config.class,
                "variant=" + name + "_tiny",
                "embed_dim=" + CHANNELS,
                "depths=[2, 1, 2, 1]",
                "num_heads=[1, 2, 2, 4]",
                "relative_position_bias=" + biased,
                "bias_outside=" + biasOutside,
                "window_size=" + WINDOW,
                "drop_path_rate=0");
    }
}
