package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.distributed.Ranks;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

/** Models with synchronized normalizations. */
@Timeout(120)
class SynchronizedModulesTest {

    private static final int CHANNELS = 3;

    @BeforeEach
    void assumeOperators() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
    }

    /** {@code x + relu(norm(conv(x)))} */
    private static final class Residual extends Layer {

        private final ConvModule conv =
                add(
                        "",
                        ConvModule.normRelu(
                                new Geometry(CHANNELS, CHANNELS, 3).padding(1),
                                BatchNormType.SYNC_BN));

        @Override
        protected NDArray forward(NDArray x) {
            return x.add(conv.apply(x));
        }
    }

    private static NDArray batch(NDManager manager, int rank) {
        Shape shape = new Shape(1 + rank, CHANNELS, 5, 4 + rank);
        return WeightInit.normal(2).create(manager, shape, SeededRandom.of(rank)).add(5);
    }

    private static List<NDArray> learned(Module model) {
        return model.namedParameters().values().stream()
                .filter(parameter -> !Module.isBuffer(parameter))
                .map(Parameter::getArray)
                .toList();
    }

    /** Returns the gradients and running statistics of two blocks. */
    private static List<float[]> trained(boolean recomputes, int rank) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            List<Residual> blocks = List.of(new Residual(), new Residual());
            List<NDArray> learned = new ArrayList<>();
            for (Residual block : blocks) {
                block.initialize(manager, learned.size());
                learned.addAll(learned(block));
            }
            NDArray x = batch(manager, rank);
            NDList gradients =
                    Autograd.gradients(
                            () -> {
                                NDArray y = x;
                                for (Layer block : blocks) {
                                    y =
                                            recomputes
                                                    ? ActivationCheckpointing.run(block, y)
                                                    : block.apply(y);
                                }
                                return y.mul(y).mul(y).mean();
                            },
                            learned);
            List<float[]> numbers = new ArrayList<>();
            gradients.forEach(gradient -> numbers.add(gradient.toFloatArray()));
            blocks.stream()
                    .flatMap(block -> block.namedParameters().values().stream())
                    .filter(Module::isBuffer)
                    .forEach(statistic -> numbers.add(statistic.getArray().toFloatArray()));
            return numbers;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void recomputationSynchronizesAgain(int worldSize) throws Exception {
        Ranks.together(
                worldSize,
                Boolean.class,
                group -> {
                    List<float[]> kept = trained(false, group.rank());
                    List<float[]> recomputed = trained(true, group.rank());
                    for (int i = 0; i < kept.size(); i++) {
                        assertArrayEquals(kept.get(i), recomputed.get(i), 1e-6f, "number " + i);
                    }
                    return true;
                });
    }

    @Test
    void namesARankThatFailsBeforeBackward() throws Exception {
        List<Object> results =
                Ranks.onAll(
                        2,
                        20,
                        group -> {
                            try (NDManager manager = Libtorch.newManager(Device.cpu())) {
                                Residual model = new Residual();
                                model.initialize(manager, 3);
                                return Autograd.gradients(
                                        () -> {
                                            NDArray loss = model.apply(batch(manager, 0)).sum();
                                            if (group.rank() == 1) {
                                                group.fail("out of memory");
                                                throw new IllegalStateException();
                                            }
                                            return loss;
                                        },
                                        learned(model));
                            }
                        });
        SaccadeException error = assertInstanceOf(SaccadeException.class, results.get(0));
        assertEquals("rank 0: rank 1 has ended: out of memory", error.getMessage());
        assertEquals(SaccadeException.Kind.IO, error.kind());
    }

    @Test
    void reportsWhetherAModelSynchronizes() {
        Residual model = new Residual();
        assertTrue(model.synchronizes());
        model.train(false);
        assertFalse(model.synchronizes());
        assertFalse(new BatchNorm2d(CHANNELS).synchronizes());
        assertEquals(1, ProcessGroup.current().worldSize());
    }
}
