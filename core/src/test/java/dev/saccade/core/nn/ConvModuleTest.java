package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

class ConvModuleTest {

    @Test
    void forwardConcatEqualsConcatenation() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            for (ConvModule module :
                    List.of(
                            ConvModule.relu(new Geometry(9, 4, 3).padding(1), WeightInit.normal(1)),
                            ConvModule.linear(
                                    new Geometry(9, 4, 3).padding(1), WeightInit.normal(1)),
                            ConvModule.normRelu(
                                    new Geometry(9, 4, 3).padding(1), BatchNormType.BN))) {
                module.initialize(manager, 1);
                NDList maps = new NDList();
                for (int channels : new int[] {4, 2, 3}) {
                    Shape shape = new Shape(2, channels, 6, 5);
                    maps.add(manager.randomNormal(0, 1, shape, DataType.FLOAT32));
                }
                List<float[]> joined = run(module, () -> module.apply(Tensors.concat(maps, 1)));
                List<float[]> apart =
                        run(module, () -> module.forwardConcat(3, i -> maps.get(i).duplicate()));
                assertArrayEquals(joined.get(0), apart.get(0), 1e-4f);
                assertArrayEquals(joined.get(1), apart.get(1), 1e-4f);
            }
        }
    }

    @Test
    void fusedForwardConcatEqualsConcatenation() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            ConvModule module =
                    ConvModule.relu(new Geometry(48, 20, 3).padding(1), WeightInit.normal(1));
            module.initialize(manager, 1);
            module.fuse();
            NDArray first = manager.randomNormal(new Shape(1, 16, 12, 13));
            NDArray second = manager.randomNormal(new Shape(1, 32, 12, 13));
            NDList maps = new NDList(first, second);
            assertArrayEquals(
                    NoGrad.call(() -> module.apply(Tensors.concat(maps, 1))).toFloatArray(),
                    NoGrad.call(() -> module.forwardConcat(2, i -> maps.get(i).duplicate()))
                            .toFloatArray(),
                    1e-4f);
            assertArrayEquals(
                    NoGrad.call(() -> module.forwardConcat(1, i -> Tensors.concat(maps, 1)))
                            .toFloatArray(),
                    NoGrad.call(() -> module.apply(Tensors.concat(maps, 1))).toFloatArray(),
                    1e-4f);
        }
    }

    /** Returns the output and the weight gradient of the sum of squares. */
    private static List<float[]> run(ConvModule module, Supplier<NDArray> forward) {
        List<float[]> numbers = new ArrayList<>();
        NDArray weight = module.namedParameters().get("conv.weight").getArray();
        NDArray gradient =
                Autograd.gradients(
                                () -> {
                                    NDArray y = forward.get();
                                    numbers.add(y.toFloatArray());
                                    return y.square().mean();
                                },
                                List.of(weight))
                        .singletonOrThrow();
        numbers.add(gradient.toFloatArray());
        return numbers;
    }
}
