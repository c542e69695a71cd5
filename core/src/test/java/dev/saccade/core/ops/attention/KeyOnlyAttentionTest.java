package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.attention.KeyOnlyAttention.Form;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

class KeyOnlyAttentionTest {

    private static final int CHANNELS = 6;
    private static final int HEADS = 2;
    private static final int WIDTH = CHANNELS / HEADS;
    private static final Shape MAP = new Shape(2, 3, 4, CHANNELS);
    private static final int TOKENS = 12;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private final NDArray x = random(MAP);
    private final NDArray saliency = random(new Shape(HEADS, WIDTH));
    private final List<NDArray> weights = randoms(new Shape(CHANNELS, CHANNELS));
    private final List<NDArray> biases = randoms(new Shape(CHANNELS));

    private NDArray random(Shape shape) {
        NDArray array = manager.randomNormal(0, 0.5f, shape, DataType.FLOAT32);
        array.setRequiresGradient(true);
        return array;
    }

    private List<NDArray> randoms(Shape shape) {
        return Stream.generate(() -> random(shape)).limit(4).toList();
    }

    static List<Form> forms() {
        return Kernels.status().loaded()
                ? List.of(
                        KeyOnlyAttention.FOUR_PRODUCTS,
                        KeyOnlyAttention.ONE_PRODUCT,
                        KeyOnlyAttention.FUSED)
                : List.of(KeyOnlyAttention.FOUR_PRODUCTS, KeyOnlyAttention.ONE_PRODUCT);
    }

    @ParameterizedTest
    @MethodSource("forms")
    void equalsTheDefinition(Form form) {
        assertArrayEquals(
                definition(biases), form.run(x, saliency, weights, biases).toFloatArray(), 1e-5f);
        List<NDArray> zeros =
                Stream.generate(() -> manager.zeros(new Shape(CHANNELS))).limit(4).toList();
        assertArrayEquals(
                definition(zeros), form.run(x, saliency, weights, List.of()).toFloatArray(), 1e-5f);
    }

    /** The definition, number by number. */
    private float[] definition(List<NDArray> b) {
        double[][][] image = new double[2][TOKENS][CHANNELS];
        float[] values = x.toFloatArray();
        for (int i = 0; i < values.length; i++) {
            image[i / CHANNELS / TOKENS][i / CHANNELS % TOKENS][i % CHANNELS] = values[i];
        }
        float[] out = new float[values.length];
        int next = 0;
        for (double[][] tokens : image) {
            double[][] k = affine(tokens, weights.get(0), b.get(0));
            double[] g = globalKey(k);
            double[][] z = affine(tokens, weights.get(1), b.get(1));
            for (double[] token : z) {
                for (int c = 0; c < CHANNELS; c++) {
                    token[c] *= g[c];
                }
            }
            z = affine(z, weights.get(2), b.get(2));
            for (int n = 0; n < TOKENS; n++) {
                for (int c = 0; c < CHANNELS; c++) {
                    z[n][c] += k[n][c];
                }
            }
            for (double[] token : affine(z, weights.get(3), b.get(3))) {
                for (double value : token) {
                    out[next++] = (float) value;
                }
            }
        }
        return out;
    }

    private double[] globalKey(double[][] k) {
        float[] w = saliency.toFloatArray();
        double[] g = new double[CHANNELS];
        for (int h = 0; h < HEADS; h++) {
            double[] exp = new double[TOKENS];
            double total = 0;
            for (int n = 0; n < TOKENS; n++) {
                double s = 0;
                for (int d = 0; d < WIDTH; d++) {
                    s += k[n][h * WIDTH + d] * w[h * WIDTH + d];
                }
                exp[n] = Math.exp(s / Math.sqrt(WIDTH));
                total += exp[n];
            }
            for (int n = 0; n < TOKENS; n++) {
                for (int c = h * WIDTH; c < (h + 1) * WIDTH; c++) {
                    g[c] += exp[n] / total * k[n][c];
                }
            }
        }
        return g;
    }

    private static double[][] affine(double[][] tokens, NDArray weight, NDArray bias) {
        float[] w = weight.toFloatArray();
        float[] b = bias.toFloatArray();
        double[][] out = new double[TOKENS][CHANNELS];
        for (int n = 0; n < TOKENS; n++) {
            for (int o = 0; o < CHANNELS; o++) {
                out[n][o] = b[o];
                for (int i = 0; i < CHANNELS; i++) {
                    out[n][o] += tokens[n][i] * w[o * CHANNELS + i];
                }
            }
        }
        return out;
    }

    /**
     * Maps of zero, one and many tokens; full and partial channel vectors; one and several threads.
     */
    @ParameterizedTest
    @CsvSource({
        "2, 3, 4, 2, 3",
        "1, 1, 1, 1, 5",
        "3, 1, 1, 4, 16",
        "2, 0, 3, 2, 4",
        "0, 2, 2, 2, 4",
        "2, 9, 7, 3, 5",
        "1, 20, 33, 1, 64",
        "8, 7, 7, 8, 16",
        "2, 17, 5, 5, 32",
    })
    void allAlgorithmsAgreeWithGradients(int n, int h, int w, int heads, int width) {
        for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
            for (boolean biased : new boolean[] {true, false}) {
                Inputs inputs = new Inputs(new Shape(n, h, w), heads, width, biased, type);
                Form portable = KeyOnlyAttention.portable((long) h * w, (long) heads * width);
                List<double[]> expected = inputs.results(portable);
                for (Form form : forms()) {
                    List<double[]> actual = inputs.results(form);
                    for (int i = 0; i < expected.size(); i++) {
                        double tolerance = type == DataType.FLOAT32 ? 1e-4 : 1e-11;
                        double[] result = expected.get(i);
                        double scale = Arrays.stream(result).map(Math::abs).max().orElse(0);
                        assertArrayEquals(result, actual.get(i), tolerance * (1 + scale));
                    }
                }
            }
        }
    }

    /** Random inputs with gradients. */
    private final class Inputs {

        private final NDArray x;
        private final NDArray saliency;
        private final List<NDArray> weights;
        private final List<NDArray> biases;
        private final NDArray cotangent;

        Inputs(Shape map, int heads, int width, boolean biased, DataType type) {
            int channels = heads * width;
            x = random(map.add(channels), 1, type);
            saliency = random(new Shape(heads, width), 1, type);
            double spread = 1 / Math.sqrt(channels);
            weights = four(() -> random(new Shape(channels, channels), spread, type));
            biases = biased ? four(() -> random(new Shape(channels), 0.5, type)) : List.of();
            cotangent = manager.randomNormal(x.getShape()).toType(type, false);
        }

        private NDArray random(Shape shape, double spread, DataType type) {
            NDArray array = manager.randomNormal(shape).toType(type, false).mul(spread);
            array.setRequiresGradient(true);
            return array;
        }

        private List<NDArray> four(Supplier<NDArray> one) {
            return Stream.generate(one).limit(4).toList();
        }

        /** Returns the result and all gradients. */
        List<double[]> results(Form form) {
            List<double[]> results = new ArrayList<>();
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDArray y = form.run(x, saliency, weights, biases);
                results.add(doubles(y));
                collector.backward(y.mul(cotangent).sum());
            }
            Stream.of(List.of(x, saliency), weights, biases)
                    .flatMap(List::stream)
                    .forEach(
                            input -> {
                                results.add(doubles(input.getGradient()));
                                input.getGradient().muli(0);
                            });
            return results;
        }

        private double[] doubles(NDArray array) {
            return array.toType(DataType.FLOAT64, true).toDoubleArray();
        }
    }

    /** If all tokens are equally salient, G is the mean key. */
    @Test
    void withoutSaliencyTheGateIsTheMeanKey() {
        NDArray none = manager.zeros(saliency.getShape());
        NDArray identity = manager.eye(CHANNELS);
        NDArray zero = manager.zeros(identity.getShape());
        List<NDArray> gateOnly = List.of(identity, zero, identity, identity);
        NDArray ones = manager.ones(new Shape(CHANNELS));
        NDArray zeros = ones.zerosLike();
        NDArray y =
                KeyOnlyAttention.attend(x, none, gateOnly, List.of(zeros, ones, zeros, zeros))
                        .sub(x);
        NDArray tokens = x.reshape(2, TOKENS, CHANNELS);
        NDArray mean = tokens.mean(new int[] {1}, true).broadcast(tokens.getShape());
        assertArrayEquals(mean.toFloatArray(), y.toFloatArray(), 1e-5f);
    }

    @Test
    void countsTheMultiplyAddsOfTheDefinition() {
        long count =
                MultiplyAdds.count(() -> KeyOnlyAttention.attend(x, saliency, weights, biases));
        assertEquals(MAP.size() * (4 * CHANNELS + 3), count);
    }
}
