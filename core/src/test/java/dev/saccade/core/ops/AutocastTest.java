package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.ActivationCheckpointing;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

class AutocastTest {

    /** libtorch's data type code; DJL does not support bfloat16. */
    private static final Script TYPE =
            Script.compile("(x: Tensor) -> Tensor", "return torch.tensor(ops.prim.dtype(x))");

    private NDManager manager;

    @BeforeEach
    void open() {
        manager = Libtorch.newManager(Device.cpu());
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private static <T> T in(Precision precision, Supplier<T> body) {
        return Autocast.call(precision, Device.cpu(), body);
    }

    private static Precision type(NDArray x) {
        try (NDArray number = TYPE.run(x)) {
            return switch (number.toType(DataType.INT32, false).getInt()) {
                case 5 -> Precision.FLOAT16;
                case 6 -> Precision.FLOAT32;
                case 15 -> Precision.BFLOAT16;
                default -> throw new AssertionError(number);
            };
        }
    }

    private NDArray random(long... shape) {
        return manager.randomNormal(new Shape(shape));
    }

    private Precision typeOfProduct() {
        NDArray x = random(2, 2);
        return type(x.matMul(x));
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void computesInAPrecisionAndRestoresTheOldOne(Precision precision) {
        assertEquals(precision, in(precision, this::typeOfProduct));
        assertEquals(precision, in(precision, () -> Autocast.precision(Device.cpu())));
        assertEquals(Precision.FLOAT32, in(precision, () -> Autocast.precision(Device.gpu())));
        assertEquals(Precision.FLOAT32, typeOfProduct());
        assertEquals(Precision.FLOAT32, in(precision, () -> Autocast.off(this::typeOfProduct)));
    }

    @Test
    void nests() {
        List<Precision> found =
                in(
                        Precision.BFLOAT16,
                        () -> {
                            Precision outer = typeOfProduct();
                            Precision inner = in(Precision.FLOAT16, this::typeOfProduct);
                            Precision none = in(Precision.FLOAT32, this::typeOfProduct);
                            return List.of(outer, inner, none, typeOfProduct());
                        });
        assertEquals(
                List.of(
                        Precision.BFLOAT16,
                        Precision.FLOAT16,
                        Precision.FLOAT32,
                        Precision.BFLOAT16),
                found);
    }

    @Test
    void restoresAfterAFailure() {
        Supplier<Object> failure =
                () -> {
                    throw new IllegalStateException();
                };
        assertThrows(IllegalStateException.class, () -> in(Precision.BFLOAT16, failure));
        assertEquals(Precision.FLOAT32, typeOfProduct());
    }

    @Test
    void needsFusedOperators() {
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                Autocast.requireOperators(
                                        Precision.BFLOAT16,
                                        new OperatorLibrary.Status(false, "no library")));
        assertEquals(
                "precision: bfloat16 needs fused operators, which are off: no library; set"
                        + " precision to float32",
                error.getMessage());
    }

    @Test
    void appliesToOneThread() {
        Precision other =
                in(
                        Precision.BFLOAT16,
                        () -> CompletableFuture.supplyAsync(this::typeOfProduct).join());
        assertEquals(Precision.FLOAT32, other);
    }

    @Test
    void castsChangedWeightsAgain() {
        Conv2d layer = ready(Conv2d.withoutBias(new Geometry(3, 2, 1)), 1, 3, 2, 2);
        NDArray x = random(1, 3, 2, 2);
        in(
                Precision.BFLOAT16,
                () -> {
                    NDArray before = Tensors.toFloat32(layer.apply(x));
                    NoGrad.run(() -> layer.weight().muli(2));
                    NDArray y = Tensors.toFloat32(layer.apply(x));
                    assertArrayEquals(before.toFloatArray(), y.div(2).toFloatArray());
                    return y;
                });
    }

    /** Casts made without gradients must not be reused with gradients. */
    @Test
    void recordsGradientsAfterInference() {
        Conv2d layer = ready(Conv2d.withDefaultInit(new Geometry(3, 2, 1)), 1, 3, 2, 2);
        NDArray x = random(1, 3, 2, 2);
        layer.weight().setRequiresGradient(true);
        NDList gradients =
                Autograd.gradients(
                        () ->
                                in(
                                        Precision.BFLOAT16,
                                        () -> {
                                            NoGrad.call(() -> layer.apply(x));
                                            return Tensors.toFloat32(layer.apply(x)).sum();
                                        }),
                        List.of(layer.weight()));
        assertEquals(layer.weight().getShape(), gradients.get(0).getShape());
        assertEquals(DataType.FLOAT32, gradients.get(0).getDataType());
    }

    private <L extends Layer> L ready(L layer, long... shape) {
        layer.initialize(manager, DataType.FLOAT32, new Shape(shape));
        return layer;
    }

    private NDList gradients(Mlp mlp, NDArray x, List<NDArray> by, boolean again) {
        return Autograd.gradients(
                () -> {
                    NDArray y =
                            in(
                                    Precision.BFLOAT16,
                                    () ->
                                            again
                                                    ? ActivationCheckpointing.run(mlp, x)
                                                    : mlp.apply(x));
                    assertEquals(Precision.BFLOAT16, type(y));
                    return Tensors.toFloat32(y).square().sum();
                },
                by);
    }

    @Test
    void recomputesInThePrecisionOfTheForwardPass() {
        Mlp mlp = ready(new Mlp(5, 7), 5);
        NDArray x = random(2, 3, 5);
        List<NDArray> by = mlp.namedParameters().values().stream().map(p -> p.getArray()).toList();
        by.forEach(array -> array.setRequiresGradient(true));
        NDList at = gradients(mlp, x, by, false);
        NDList again = gradients(mlp, x, by, true);
        for (int i = 0; i < by.size(); i++) {
            assertEquals(DataType.FLOAT32, at.get(i).getDataType());
            assertArrayEquals(at.get(i).toFloatArray(), again.get(i).toFloatArray());
        }
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void convolvesInAllMemoryFormats(Precision precision) {
        Linear linear = ready(new Linear(16, 8), 16);
        Conv2d conv = Conv2d.withDefaultInit(new Geometry(16, 8, 3).padding(1));
        ready(conv, 1, 16, 6, 6);
        NDArray x = random(1, 6, 6, 16);
        assertEquals(precision, in(precision, () -> type(linear.apply(x))));
        assertEquals(precision, in(precision, () -> type(linear.forwardGelu(x))));
        assertEquals(
                precision, in(precision, () -> NoGrad.call(() -> type(linear.forwardGelu(x)))));
        NDArray map = x.transpose(0, 3, 1, 2);
        assertEquals(precision, in(precision, () -> type(conv.apply(map))));
    }
}
