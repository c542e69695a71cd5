package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

class ActivationCheckpointingTest {

    private static final int CHANNELS = 6;
    private static final long[] SAMPLES = {11, 12, 13, 14};

    /** {@code x + drop(conv(norm(x)))}; counts its forward passes. */
    private static final class Residual extends Layer {

        private final BatchNorm2d norm = add("norm", new BatchNorm2d(CHANNELS));
        private final Conv2d conv =
                add("conv", Conv2d.withoutBias(new Geometry(CHANNELS, CHANNELS, 3).padding(1)));
        private final DropPath drop = add("drop", new DropPath(0.5));
        private int runs;

        @Override
        protected NDArray forward(NDArray x) {
            runs++;
            return x.add(drop.apply(conv.apply(norm.apply(x))));
        }
    }

    /** A module of blocks that may be checkpointed. */
    private abstract static class Composed extends Layer {

        private final boolean recomputes;

        Composed(boolean recomputes) {
            this.recomputes = recomputes;
        }

        final NDArray run(Layer block, NDArray x) {
            return recomputes ? ActivationCheckpointing.run(block, x) : block.apply(x);
        }
    }

    private static final class Pair extends Composed {

        private final Residual first = add("first", new Residual());
        private final Residual second = add("second", new Residual());

        Pair(boolean recomputes) {
            super(recomputes);
        }

        @Override
        protected NDArray forward(NDArray x) {
            return run(second, run(first, x));
        }
    }

    /**
     * A frozen stem and block, a stage of two blocks, a convolution, and a second stage that starts
     * with a view, reuses a block of the first stage and ends with a pair. The map of each stage
     * goes to a separate norm: the first before the next stage, the convolution's optionally after
     * it.
     */
    private static final class Net extends Composed {

        private final Conv2d stem =
                add("stem", Conv2d.withoutBias(new Geometry(3, CHANNELS, 3).padding(1)));
        private final Residual frozen = add("frozen", new Residual());
        private final Residual one = add("one", new Residual());
        private final Residual two = add("two", new Residual());
        private final Conv2d between =
                add(
                        "between",
                        Conv2d.withoutBias(
                                new Geometry(CHANNELS, CHANNELS, 3).stride(2).padding(1)));
        private final Residual three = add("three", new Residual());
        private final Residual unused = add("unused", new Residual());
        private final Pair pair;
        private final BatchNorm2d norm0 = add("norm0", new BatchNorm2d(CHANNELS));
        private final BatchNorm2d norm1 = add("norm1", new BatchNorm2d(CHANNELS));
        private final BatchNorm2d norm2 = add("norm2", new BatchNorm2d(CHANNELS));
        private final boolean branches;

        Net(boolean recomputes, boolean branches) {
            super(recomputes);
            this.branches = branches;
            pair = add("pair", new Pair(recomputes));
            stem.freeze();
            frozen.freeze();
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray first = run(two, run(one, run(frozen, stem.apply(x))));
            NDArray before = cubes(norm0.apply(first));
            NDArray map = between.apply(first);
            NDArray second = run(two, run(three, map.transpose(0, 1, 3, 2)));
            run(unused, second);
            NDArray loss = before.add(cubes(norm2.apply(run(pair, second))));
            return branches ? loss.add(cubes(norm1.apply(map))) : loss;
        }

        private static NDArray cubes(NDArray x) {
            return x.mul(x).mul(x).mean();
        }
    }

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final NDArray x =
            MemoryFormat.channelsLast(normal(new Shape(SAMPLES.length, 3, 12, 8)));

    @AfterEach
    void free() {
        manager.close();
    }

    private NDArray normal(Shape shape) {
        return WeightInit.normal(1).create(manager, shape, SeededRandom.of(0));
    }

    private <M extends Module> M initialized(M module) {
        module.initialize(manager, 5);
        return module;
    }

    private static Map<String, NDArray> learned(Module module) {
        Map<String, NDArray> learned = new LinkedHashMap<>();
        module.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (parameter.requiresGradient() && !Module.isBuffer(parameter)) {
                                learned.put(name, parameter.getArray());
                            }
                        });
        return learned;
    }

    private static Map<String, float[]> gradients(Module module, Supplier<NDArray> loss) {
        Map<String, NDArray> learned = learned(module);
        Map<String, float[]> gradients = new LinkedHashMap<>();
        Scope.run(
                () -> {
                    NDList found = Autograd.gradients(loss, List.copyOf(learned.values()));
                    int i = 0;
                    for (String name : learned.keySet()) {
                        gradients.put(name, found.get(i++).toFloatArray());
                    }
                });
        return gradients;
    }

    private Map<String, float[]> gradients(Net net, long epoch) {
        return gradients(
                net,
                () -> SampleRandom.call(3, epoch, SAMPLES, () -> Scope.array(() -> net.apply(x))));
    }

    private static void assertClose(
            Map<String, float[]> expected, Map<String, float[]> actual, double tolerance) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach(
                (name, values) -> {
                    float[] found = actual.get(name);
                    assertEquals(values.length, found.length, name);
                    double scale = 0;
                    for (float value : values) {
                        scale = Math.max(scale, Math.abs(value));
                    }
                    for (int i = 0; i < values.length; i++) {
                        assertEquals(values[i], found[i], tolerance * scale, name);
                    }
                });
    }

    private static Map<String, float[]> buffers(Module module) {
        Map<String, float[]> buffers = new LinkedHashMap<>();
        module.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (Module.isBuffer(parameter)) {
                                buffers.put(name, parameter.getArray().toFloatArray());
                            }
                        });
        return buffers;
    }

    @ParameterizedTest
    @CsvSource({
        "false, 0",
        // Both paths through the convolution are computed separately, which rounds differently.
        "true, 1e-5"
    })
    void gradientsAndStatisticsEqualThePlainPass(boolean branches, double tolerance) {
        Net plain = initialized(new Net(false, branches));
        Net recomputing = initialized(new Net(true, branches));
        for (long epoch = 0; epoch < 4; epoch++) {
            Map<String, float[]> expected = gradients(plain, epoch);
            assertClose(expected, gradients(recomputing, epoch), tolerance);
            assertClose(buffers(plain), buffers(recomputing), 0);
            assertEquals(0, expected.get("unused.conv.weight").length);
        }
        assertEquals(4, recomputing.frozen.runs, "no gradient, no recomputation");
        assertEquals(8, recomputing.one.runs);
        assertEquals(16, recomputing.two.runs, "part of both stages");
        assertEquals(4, recomputing.unused.runs, "no part of the loss");
        assertEquals(12, recomputing.pair.first.runs, "recomputed within what is recomputed");
    }

    @Test
    void differentiatesByInputs() {
        x.setRequiresGradient(true);
        float[][] found = new float[2][];
        for (int i = 0; i < 2; i++) {
            Net net = initialized(new Net(i == 1, false));
            Supplier<NDArray> loss = () -> SampleRandom.call(3, 0, SAMPLES, () -> net.apply(x));
            found[i] = Autograd.gradients(loss, List.of(x)).singletonOrThrow().toFloatArray();
        }
        assertArrayEquals(found[0], found[1]);
    }

    @Test
    void repeatsRandomNumbersWithoutSampleIds() {
        DropPath drop = new DropPath(0.5);
        NDArray many = manager.ones(new Shape(64, 1));
        many.setRequiresGradient(true);
        NDArray[] outputs = new NDArray[2];
        NDList found =
                Autograd.gradients(
                        () -> {
                            for (int i = 0; i < 2; i++) {
                                outputs[i] = ActivationCheckpointing.run(drop, many);
                            }
                            return outputs[0].add(outputs[1]).sum();
                        },
                        List.of(many));
        assertEquals(outputs[0].add(outputs[1]), found.singletonOrThrow());
        assertFalse(outputs[0].contentEquals(outputs[1]));
    }

    @Test
    void isThePlainBlockWithoutRecordingAndUnderDjlsCollector() {
        Residual block = initialized(new Residual());
        NDArray maps = normal(new Shape(4, CHANNELS, 5, 5));
        assertFalse(
                Autograd.requiresGradient(
                        NoGrad.call(() -> ActivationCheckpointing.run(block, maps))));
        Supplier<NDArray> loss =
                () ->
                        SampleRandom.call(
                                0,
                                0,
                                SAMPLES,
                                () -> ActivationCheckpointing.run(block, maps).sum());
        Map<String, float[]> expected = gradients(block, loss);
        block.runs = 0;
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            collector.backward(loss.get());
        }
        assertEquals(1, block.runs);
        learned(block)
                .forEach(
                        (name, array) ->
                                assertArrayEquals(
                                        expected.get(name), array.getGradient().toFloatArray()));
    }

    @Test
    void freesAllArrays() {
        Net net = initialized(new Net(true, true));
        int arrays = manager.getManagedArrays().size();
        try (NDManager step = manager.newSubManager()) {
            gradients(net, 0);
            x.attach(step);
            assertThrows(
                    IllegalStateException.class,
                    () ->
                            gradients(
                                    net,
                                    () -> {
                                        net.apply(x);
                                        throw new IllegalStateException("after the forward pass");
                                    }));
            x.attach(manager);
        }
        assertEquals(arrays, manager.getManagedArrays().size());
        net.one.runs = 0;
        NDArray y = ActivationCheckpointing.run(net.one, net.stem.apply(x));
        assertEquals(1, net.one.runs);
        assertFalse(Autograd.requiresGradient(y), "recording is over");
    }

    @Test
    void rejectsInvalidLosses() {
        Residual block = initialized(new Residual());
        NDArray maps = normal(new Shape(4, CHANNELS, 5, 5));
        List<NDArray> by = List.copyOf(learned(block).values());
        assertThrows(
                IllegalArgumentException.class,
                () -> Autograd.gradients(() -> block.apply(maps), by));
        assertThrows(
                IllegalArgumentException.class, () -> Autograd.gradients(() -> maps.sum(), by));
    }
}
