package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

class DeformConv2dTest {

    private static final double STEP = 1e-6;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** An operator and its input sizes. */
    private record Setting(
            DeformConv2d operator,
            Shape input,
            Shape weight,
            int parts,
            boolean modulated,
            boolean biased) {

        long positions(int axis) {
            long reach = operator.dilation().get(axis) * (weight.get(2 + axis) - 1);
            long free = input.get(2 + axis) + 2L * operator.padding().get(axis) - reach - 1;
            return free / operator.stride().get(axis) + 1;
        }

        Shape maps(int each) {
            long taps = weight.get(2) * weight.get(3);
            return new Shape(input.get(0), taps * each * parts, positions(0), positions(1));
        }

        Shape output() {
            return new Shape(input.get(0), weight.get(0), positions(0), positions(1));
        }

        NDArray run(NDList in) {
            NDArray mask = modulated ? in.get(3) : null;
            NDArray bias = biased ? in.get(modulated ? 4 : 3) : null;
            return operator.run(in.get(0), in.get(2), mask, in.get(1), bias);
        }
    }

    static List<Setting> settings() {
        DeformConv2d uneven = new DeformConv2d(List.of(2, 1), List.of(0, 1), List.of(1, 2));
        return List.of(
                new Setting(same(), new Shape(2, 4, 4, 5), new Shape(3, 4, 3, 3), 1, true, true),
                new Setting(
                        new DeformConv2d(2, 1, 1),
                        new Shape(1, 4, 6, 5),
                        new Shape(4, 2, 3, 3),
                        2,
                        true,
                        false),
                new Setting(uneven, new Shape(2, 6, 5, 5), new Shape(2, 3, 3, 2), 3, false, true),
                new Setting(same(), new Shape(1, 40, 3, 3), new Shape(10, 20, 3, 3), 4, true, true),
                new Setting(
                        new DeformConv2d(1, 0, 1),
                        new Shape(3, 5, 2, 3),
                        new Shape(5, 5, 1, 1),
                        5,
                        true,
                        true));
    }

    private static DeformConv2d same() {
        return new DeformConv2d(1, 1, 1);
    }

    @ParameterizedTest
    @MethodSource("settings")
    void equalsTheDefinition(Setting setting) {
        NDList inputs = inputs(setting, DataType.FLOAT64);
        double[] expected = byLoops(setting, inputs);
        for (NDArray found : inEveryForm(() -> setting.run(inputs))) {
            assertEquals(setting.output(), found.getShape());
            assertArrayEquals(expected, found.toDoubleArray(), 1e-12);
        }
    }

    /** Compares the gradients of all inputs with finite differences. */
    @ParameterizedTest
    @MethodSource("settings")
    void equalsTheGradientsOfTheDefinition(Setting setting) {
        NDList inputs = inputs(setting, DataType.FLOAT64);
        NDArray cotangent = random(setting.output(), 1, DataType.FLOAT64, 1);
        List<NDList> found = inEveryForm(() -> gradients(setting, inputs, cotangent));
        for (int i = 0; i < inputs.size(); i++) {
            double[] differences = differences(setting, inputs, i, cotangent);
            for (NDList gradients : found) {
                assertArrayEquals(
                        differences, gradients.get(i).toDoubleArray(), 1e-6, "gradient " + i);
            }
        }
    }

    @Test
    void equalsAConvolutionForZeroOffsets() {
        Setting setting = settings().get(0);
        NDList inputs = inputs(setting, DataType.FLOAT32);
        NDArray still = inputs.get(2).zerosLike();
        NDArray ones = inputs.get(3).onesLike();
        NDArray expected =
                Functional.conv2d(inputs.get(0), inputs.get(1), inputs.get(4), 1, 1, 1, 1);
        NDList given = new NDList(inputs.get(0), inputs.get(1), still, ones, inputs.get(4));
        for (NDArray found : inEveryForm(() -> setting.run(given))) {
            assertArrayEquals(expected.toFloatArray(), found.toFloatArray(), 1e-5f);
        }
    }

    /** A sample in row or column -1 is 0, but has a derivative; one further out has none. */
    @Test
    void hasADerivativeOnRowMinusOne() {
        DeformConv2d point = new DeformConv2d(1, 0, 1);
        NDArray input = manager.create(new double[] {3, 5}, new Shape(1, 1, 1, 2));
        NDArray weight = manager.create(new double[] {2}, new Shape(1, 1, 1, 1));
        NDArray offset = manager.create(new double[] {-1, -1.5, 0, 0}, new Shape(1, 2, 1, 2));
        for (NDArray found :
                inEveryForm(
                        () ->
                                Autograd.gradients(
                                                () ->
                                                        point.run(input, offset, null, weight, null)
                                                                .sum(),
                                                tracked(new NDList(offset)))
                                        .get(0))) {
            assertArrayEquals(new double[] {6, 0, 0, 0}, found.toDoubleArray());
        }
    }

    @Test
    void isZeroOutsideTheMap() {
        DeformConv2d point = new DeformConv2d(1, 0, 1);
        NDArray input = manager.ones(new Shape(1, 1, 1, 4));
        NDArray weight = manager.ones(new Shape(1, 1, 1, 1));
        float[] far = {1e30f, -1e30f, Float.POSITIVE_INFINITY, 2e9f, 0, 0, 0, 0};
        NDArray offset = manager.create(far, new Shape(1, 2, 1, 4));
        for (NDArray found : inEveryForm(() -> point.run(input, offset, null, weight, null))) {
            assertArrayEquals(new float[4], found.toFloatArray());
        }
    }

    @Test
    void doesNotDependOnTheNumberOfThreads() {
        Setting setting =
                new Setting(
                        same(), new Shape(2, 48, 21, 19), new Shape(40, 48, 3, 3), 2, true, true);
        NDList inputs = inputs(setting, DataType.FLOAT32);
        NDArray cotangent = random(setting.output(), 1, DataType.FLOAT32, 1);
        List<NDList> results = new ArrayList<>();
        int threads = JniUtils.getNumThreads();
        try {
            for (int count : new int[] {1, 3, 4}) {
                JniUtils.setNumThreads(count);
                NDList result = new NDList(setting.run(inputs));
                result.addAll(gradients(setting, inputs, cotangent));
                results.add(result);
            }
        } finally {
            JniUtils.setNumThreads(threads);
        }
        for (int i = 0; i < results.get(0).size(); i++) {
            float[] expected = results.get(0).get(i).toFloatArray();
            assertArrayEquals(expected, results.get(1).get(i).toFloatArray(), "result " + i);
            assertArrayEquals(expected, results.get(2).get(i).toFloatArray(), "result " + i);
        }
    }

    @Test
    void supportsEmptyBatches() {
        NDArray y =
                same().run(
                                manager.create(new Shape(0, 2, 3, 4)),
                                manager.create(new Shape(0, 18, 3, 4)),
                                null,
                                manager.ones(new Shape(5, 2, 3, 3)),
                                null);
        assertEquals(new Shape(0, 5, 3, 4), y.getShape());
    }

    @Test
    void countsMultiplyAdds() {
        Setting setting = settings().get(1);
        NDList inputs = inputs(setting, DataType.FLOAT32);
        assertEquals(4 * 3 * 3 * 2 * 9, MultiplyAdds.count(() -> setting.run(inputs)));
    }

    @Test
    void reportsAllWrongShapes() {
        NDArray input = manager.ones(new Shape(2, 6, 5, 4));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                same().run(
                                                input,
                                                manager.ones(new Shape(2, 72, 5, 5)),
                                                manager.ones(new Shape(2, 9, 5, 4)),
                                                manager.ones(new Shape(3, 4, 3, 3)),
                                                manager.ones(new Shape(2))));
        assertEquals(
                List.of(
                        "deform_conv2d: 5 problems",
                        "  - weight: got (3, 4, 3, 3), expected axis 1 (C / groups) to divide the 6"
                                + " input channels",
                        "  - bias: got (2), expected (3)",
                        "  - offset: got (2, 72, 5, 5), expected 18 channels for each of G"
                                + " groups, where G divides the 6 input channels",
                        "  - offset: got (2, 72, 5, 5), expected (2, 72, 5, 4)",
                        "  - mask: got (2, 9, 5, 4), expected (2, 36, 5, 4)"),
                e.getMessage().lines().toList());
        SaccadeException axes =
                assertThrows(
                        SaccadeException.class,
                        () -> same().run(input, input, input, input.get(0), null));
        assertEquals("deform_conv2d: weight: got (6, 5, 4), expected 4 axes", axes.getMessage());
    }

    private static <T> List<T> inEveryForm(Supplier<T> body) {
        return List.of(body.get(), OperatorLibrary.callPortable(body));
    }

    /**
     * Returns input, weight, offset, and optionally mask and bias; no sample is exactly on a cell.
     */
    private NDList inputs(Setting setting, DataType type) {
        NDList inputs =
                new NDList(
                        random(setting.input(), 2, type, 1),
                        random(setting.weight(), 3, type, 1),
                        random(setting.maps(2), 4, type, 1.5));
        if (setting.modulated()) {
            inputs.add(random(setting.maps(1), 5, type, 1));
        }
        if (setting.biased()) {
            inputs.add(random(new Shape(setting.weight().get(0)), 6, type, 1));
        }
        return inputs;
    }

    /** Returns odd multiples of 1/64. */
    private NDArray random(Shape shape, int seed, DataType type, double scale) {
        Random random = new Random(seed);
        double[] values = new double[(int) shape.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (2 * Math.round(32 * scale * random.nextGaussian()) + 1) / 64.0;
        }
        return manager.create(values, shape).toType(type, false);
    }

    private static NDList tracked(NDList inputs) {
        inputs.forEach(input -> input.setRequiresGradient(true));
        return inputs;
    }

    private static NDList gradients(Setting setting, NDList inputs, NDArray cotangent) {
        NDList leaves = new NDList(inputs.stream().map(NDArray::duplicate).toList());
        return Autograd.gradients(() -> setting.run(leaves).mul(cotangent).sum(), tracked(leaves));
    }

    private double[] differences(Setting setting, NDList inputs, int i, NDArray cotangent) {
        double[] weights = cotangent.toDoubleArray();
        double[] values = inputs.get(i).toDoubleArray();
        double[] found = new double[values.length];
        for (int j = 0; j < values.length; j++) {
            double sum = 0;
            for (int sign = -1; sign <= 1; sign += 2) {
                double[] moved = values.clone();
                moved[j] += sign * STEP;
                NDList near = new NDList(inputs);
                near.set(i, manager.create(moved, inputs.get(i).getShape()));
                double[] y = byLoops(setting, near);
                for (int k = 0; k < y.length; k++) {
                    sum += sign * weights[k] * y[k];
                }
                near.get(i).close();
            }
            found[j] = sum / (2 * STEP);
        }
        return found;
    }

    /** The definition, sample by sample. */
    private static double[] byLoops(Setting setting, NDList inputs) {
        Shape map = setting.input();
        Shape kernel = setting.weight();
        Shape out = setting.output();
        double[] input = inputs.get(0).toDoubleArray();
        double[] weight = inputs.get(1).toDoubleArray();
        double[] offset = inputs.get(2).toDoubleArray();
        double[] mask = setting.modulated() ? inputs.get(3).toDoubleArray() : null;
        double[] bias =
                setting.biased() ? inputs.get(setting.modulated() ? 4 : 3).toDoubleArray() : null;
        int channels = (int) map.get(1);
        int depth = (int) kernel.get(1);
        int taps = (int) (kernel.get(2) * kernel.get(3));
        int outputs = (int) out.get(1);
        int columns = (int) out.get(3);
        int positions = (int) (out.get(2) * columns);
        int perGroup = outputs / (channels / depth);
        double[] y = new double[(int) out.size()];
        for (int i = 0; i < y.length; i++) {
            int image = i / positions / outputs;
            int o = i / positions % outputs;
            int at = i % positions;
            y[i] = bias == null ? 0 : bias[o];
            for (int term = 0; term < depth * taps; term++) {
                int c = o / perGroup * depth + term / taps;
                int tap = term % taps;
                int part = c / (channels / setting.parts());
                int move = (image * setting.parts() + part) * taps + tap;
                int[] place = {at / columns, at % columns};
                int[] tapPlace = {tap / (int) kernel.get(3), tap % (int) kernel.get(3)};
                double[] where = new double[2];
                for (int axis = 0; axis < 2; axis++) {
                    where[axis] =
                            place[axis] * setting.operator().stride().get(axis)
                                    - setting.operator().padding().get(axis)
                                    + tapPlace[axis] * setting.operator().dilation().get(axis)
                                    + offset[(2 * move + axis) * positions + at];
                }
                double factor = mask == null ? 1 : mask[move * positions + at];
                y[i] +=
                        weight[o * depth * taps + term]
                                * factor
                                * sample(input, map, image * channels + c, where);
            }
        }
        return y;
    }

    private static double sample(double[] input, Shape map, int plane, double... where) {
        int height = (int) map.get(2);
        int width = (int) map.get(3);
        double sum = 0;
        for (int corner = 0; corner < 4; corner++) {
            int y = (int) Math.floor(where[0]) + corner / 2;
            int x = (int) Math.floor(where[1]) + corner % 2;
            if (y >= 0 && y < height && x >= 0 && x < width) {
                double share = (1 - Math.abs(where[0] - y)) * (1 - Math.abs(where[1] - x));
                sum += share * input[(plane * height + y) * width + x];
            }
        }
        return sum;
    }
}
