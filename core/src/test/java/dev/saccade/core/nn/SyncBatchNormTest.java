package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.distributed.Ranks;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

@Timeout(120)
class SyncBatchNormTest {

    private static final int CHANNELS = 3;

    /** Batches per rank with different numbers and sizes of images; the last one is empty. */
    private static final List<Shape> BATCHES =
            List.of(
                    new Shape(1, CHANNELS, 5, 4),
                    new Shape(3, CHANNELS, 2, 7),
                    new Shape(2, CHANNELS, 6, 1),
                    new Shape(0, CHANNELS, 4, 4));

    @BeforeEach
    void assumeOperators() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
    }

    /** Results of a normalization by channel: {@code [C][values]}. */
    private record Trained(List<double[]> y, List<double[]> gradient, List<double[]> parameters) {}

    private static NDManager manager() {
        return Libtorch.newManager(Device.cpu());
    }

    private static BatchNorm2d norm(NDManager manager, BatchNormType type, DataType numbers) {
        BatchNorm2d norm = new BatchNorm2d(CHANNELS, type);
        norm.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            NDArray start =
                                    WeightInit.uniform(1)
                                            .create(
                                                    manager,
                                                    new Shape(CHANNELS),
                                                    SeededRandom.of(1, name))
                                            .add(1.5f)
                                            .toType(numbers, false);
                            start.setRequiresGradient(!Module.isBuffer(parameter));
                            parameter.setShape(null);
                            parameter.setArray(start);
                        });
        return norm;
    }

    private static NDArray normal(NDManager manager, Shape shape, long seed) {
        if (shape.size() == 0) {
            return manager.zeros(shape, DataType.FLOAT64);
        }
        return WeightInit.normal(2)
                .create(manager, shape, SeededRandom.of(seed))
                .add(5)
                .toType(DataType.FLOAT64, false);
    }

    private static NDArray batch(NDManager manager, int rank) {
        return normal(manager, BATCHES.get(rank), 10 + rank);
    }

    private static NDArray cotangent(NDManager manager, int rank) {
        return normal(manager, BATCHES.get(rank), 20 + rank);
    }

    private static List<double[]> channels(NDArray x) {
        double[] numbers = x.toType(DataType.FLOAT64, true).transpose(1, 0, 2, 3).toDoubleArray();
        int each = numbers.length / CHANNELS;
        return IntStream.range(0, CHANNELS)
                .mapToObj(c -> Arrays.copyOfRange(numbers, c * each, (c + 1) * each))
                .toList();
    }

    private static Trained trained(
            BatchNorm2d norm, NDArray x, Supplier<NDArray> forward, NDArray cotangent) {
        x.setRequiresGradient(true);
        List<List<double[]>> outputs = new ArrayList<>();
        List<NDArray> by = new ArrayList<>(List.of(x));
        List<double[]> parameters = new ArrayList<>();
        norm.namedParameters().values().stream()
                .filter(parameter -> !Module.isBuffer(parameter))
                .forEach(parameter -> by.add(parameter.getArray()));
        NDList gradients =
                Autograd.gradients(
                        () -> {
                            NDArray y = forward.get();
                            outputs.add(channels(y));
                            NDArray numbers =
                                    y.getDataType() == DataType.FLOAT16 ? Tensors.toFloat32(y) : y;
                            return numbers.mul(cotangent).sum();
                        },
                        by);
        for (NDArray gradient : gradients.subList(1, gradients.size())) {
            parameters.add(doubles(gradient));
        }
        for (Parameter parameter : norm.namedParameters().values()) {
            if (Module.isBuffer(parameter)) {
                parameters.add(doubles(parameter.getArray()));
            }
        }
        return new Trained(outputs.get(0), channels(gradients.get(0)), parameters);
    }

    private static double[] doubles(NDArray x) {
        return x.toType(DataType.FLOAT64, true).toDoubleArray();
    }

    private static NDArray cells(NDArray x) {
        return x.transpose(1, 0, 2, 3).reshape(1, CHANNELS, -1, 1);
    }

    /** Returns the results of plain batch normalization on the concatenated batch. */
    private static Trained ofOneBatch(int worldSize) {
        try (NDManager manager = manager()) {
            NDArray x = cells(batch(manager, 0));
            NDArray cotangent = cells(cotangent(manager, 0));
            for (int rank = 1; rank < Math.min(worldSize, 3); rank++) {
                x = x.concat(cells(batch(manager, rank)), 2);
                cotangent = cotangent.concat(cells(cotangent(manager, rank)), 2);
            }
            BatchNorm2d norm = norm(manager, BatchNormType.BN, DataType.FLOAT64);
            NDArray all = x;
            return trained(norm, all, () -> norm.apply(all), cotangent);
        }
    }

    private static List<double[]> joined(List<List<double[]>> ofRanks) {
        return IntStream.range(0, CHANNELS)
                .mapToObj(
                        c ->
                                ofRanks.stream()
                                        .flatMapToDouble(y -> Arrays.stream(y.get(c)))
                                        .toArray())
                .toList();
    }

    private static void assertIsOneBatch(
            Trained expected, List<Trained> ranks, double forward, double backward) {
        List<double[]> y = joined(ranks.stream().map(Trained::y).toList());
        List<double[]> gradient = joined(ranks.stream().map(Trained::gradient).toList());
        for (int c = 0; c < CHANNELS; c++) {
            assertArrayEquals(expected.y.get(c), y.get(c), forward);
            assertArrayEquals(expected.gradient.get(c), gradient.get(c), backward);
            for (int p = 0; p < 2; p++) {
                int parameter = p;
                int channel = c;
                double sum =
                        ranks.stream().mapToDouble(r -> r.parameters.get(parameter)[channel]).sum();
                double whole = expected.parameters.get(p)[c];
                assertEquals(whole, sum, 10 * backward * Math.max(1, Math.abs(whole)));
            }
        }
        for (int statistic = 2; statistic < 4; statistic++) {
            double[] first = ranks.get(0).parameters.get(statistic);
            assertArrayEquals(expected.parameters.get(statistic), first, 1e-7 + forward);
            for (Trained rank : ranks) {
                assertArrayEquals(first, rank.parameters.get(statistic), "differs between ranks");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2, FLOAT64, 1e-14, 1e-14",
        "3, FLOAT64, 1e-14, 1e-14",
        "4, FLOAT64, 1e-14, 1e-14",
        "4, FLOAT32, 5e-6, 5e-6",
        "4, FLOAT16, 1e-2, 1e-2"
    })
    void equalsOneLargeBatch(int worldSize, DataType numbers, double forward, double backward)
            throws Exception {
        DataType kept = numbers == DataType.FLOAT16 ? DataType.FLOAT32 : numbers;
        List<Trained> ranks =
                Ranks.together(
                        worldSize,
                        Trained.class,
                        group -> {
                            try (NDManager manager = manager()) {
                                BatchNorm2d norm = norm(manager, BatchNormType.SYNC_BN, kept);
                                NDArray x = batch(manager, group.rank()).toType(numbers, false);
                                NDArray given =
                                        group.rank() == 1 ? MemoryFormat.channelsLast(x) : x;
                                return trained(
                                        norm,
                                        given,
                                        () -> norm.apply(given),
                                        cotangent(manager, group.rank()).toType(kept, false));
                            }
                        });
        assertIsOneBatch(ofOneBatch(worldSize), ranks, forward, backward);
    }

    @Test
    void ignoresPaddingOfAllRanks() throws Exception {
        List<Trained> ranks =
                Ranks.together(
                        4,
                        Trained.class,
                        group -> {
                            try (NDManager manager = manager()) {
                                BatchNorm2d norm =
                                        norm(manager, BatchNormType.SYNC_BN, DataType.FLOAT64);
                                NDArray real = batch(manager, group.rank());
                                Shape shape = real.getShape();
                                NDArray fillers =
                                        manager.full(
                                                new Shape(2, CHANNELS, shape.get(2), shape.get(3)),
                                                100,
                                                DataType.FLOAT64);
                                long images = shape.get(0);
                                NDArray weights = manager.arange(0, images + 2f).lt(images);
                                NDArray x = real.concat(fillers);
                                Trained all =
                                        trained(
                                                norm,
                                                x,
                                                () ->
                                                        norm.forward(
                                                                x,
                                                                weights.toType(
                                                                        DataType.FLOAT32, false)),
                                                cotangent(manager, group.rank())
                                                        .concat(fillers.zerosLike()));
                                int count = (int) (real.size() / CHANNELS);
                                assertEquals(
                                        0,
                                        all.gradient.stream()
                                                .flatMapToDouble(
                                                        c -> Arrays.stream(c, count, c.length))
                                                .map(Math::abs)
                                                .sum());
                                return new Trained(
                                        first(all.y, count),
                                        first(all.gradient, count),
                                        all.parameters);
                            }
                        });
        assertIsOneBatch(ofOneBatch(4), ranks, 1e-14, 1e-14);
    }

    private static List<double[]> first(List<double[]> channels, int count) {
        return channels.stream().map(values -> Arrays.copyOf(values, count)).toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void autocastKeepsStatisticsInFloat32(Precision precision) throws Exception {
        List<float[]> outputs =
                Ranks.together(
                        2,
                        float[].class,
                        group -> {
                            try (NDManager manager = manager()) {
                                BatchNorm2d norm =
                                        norm(manager, BatchNormType.SYNC_BN, DataType.FLOAT32);
                                NDArray x =
                                        batch(manager, group.rank())
                                                .toType(DataType.FLOAT32, false);
                                NDArray plain = norm.apply(x);
                                NDArray cast =
                                        Autocast.call(precision, Device.cpu(), () -> norm.apply(x));
                                assertEquals(DataType.FLOAT32, cast.getDataType());
                                return cast.sub(plain).toFloatArray();
                            }
                        });
        for (float[] differences : outputs) {
            assertArrayEquals(new float[differences.length], differences);
        }
    }

    @Test
    void equalsBatchNormForOneRankAndInInference() throws Exception {
        try (NDManager manager = manager()) {
            NDArray x = batch(manager, 1).toType(DataType.FLOAT32, false);
            BatchNorm2d plain = norm(manager, BatchNormType.BN, DataType.FLOAT32);
            BatchNorm2d alone = norm(manager, BatchNormType.SYNC_BN, DataType.FLOAT32);
            assertArrayEquals(plain.apply(x).toFloatArray(), alone.apply(x).toFloatArray());
            plain.train(false);
            float[] expected = plain.apply(x).toFloatArray();
            List<float[]> ranks =
                    Ranks.together(
                            2,
                            float[].class,
                            group -> {
                                alone.train(false);
                                // The other rank never joins, so this would wait forever.
                                return group.rank() == 0
                                        ? NoGrad.call(() -> alone.apply(x).toFloatArray())
                                        : expected;
                            });
            assertArrayEquals(expected, ranks.get(0));
        }
    }
}
