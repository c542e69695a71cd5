package dev.saccade.core.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Sets;

import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

class OperatorCaseTest {

    private static final float SPREAD = 0.1f;

    private static final double TOLERANCE = 1e-4;

    /**
     * Compared with portable operators in BatchNorm2dTest, OptimizerTest, MaskCropTest,
     * MaskPasteTest, BilinearResizeTest, FunctionalTest, FusedConv2dTest and TopAnchorsTest, or,
     * like the tracer, without a portable version.
     */
    private static final Set<String> APART =
            Set.of(
                    "adamw",
                    "batch_norm",
                    "norms",
                    "mask_targets",
                    "paste_masks",
                    "trace",
                    "bilinear_resize",
                    "winograd_conv2d",
                    "direct_conv2d",
                    "max_pool2d",
                    "top_anchors");

    static List<OperatorCase> cases() {
        return OperatorCase.all(1);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void fusedEqualsPortable(OperatorCase each) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList inputs = inputs(each, manager);
            Supplier<NDList> forward =
                    () -> new NDList(NoGrad.call(() -> each.operator().apply(inputs)));
            assertClose(forward.get(), OperatorLibrary.callPortable(forward), TOLERANCE);
            if (each.differentiable()) {
                inputs.forEach(input -> input.setRequiresGradient(true));
                Supplier<NDList> gradients =
                        () ->
                                Autograd.gradients(
                                        () -> each.operator().apply(inputs).square().sum(), inputs);
                assertClose(gradients.get(), OperatorLibrary.callPortable(gradients), TOLERANCE);
            }
        }
    }

    static List<Arguments> casesIn16Bits() {
        return cases().stream()
                .filter(OperatorCase::differentiable)
                .flatMap(
                        each ->
                                Stream.of(
                                        Arguments.of(each, Precision.BFLOAT16, 1.6e-2),
                                        Arguments.of(each, Precision.FLOAT16, 2e-3)))
                .toList();
    }

    /** Compares results and gradients with portable operators in float32. */
    @ParameterizedTest
    @MethodSource("casesIn16Bits")
    void roundsInputsAndOutputsTo16Bits(OperatorCase each, Precision precision, double tolerance) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList inputs = inputs(each, manager);
            NDList expected =
                    OperatorLibrary.callPortable(() -> resultAndGradients(each.operator(), inputs));
            NDList found =
                    resultAndGradients(
                            in ->
                                    Autocast.call(
                                            precision,
                                            Device.cpu(),
                                            () -> each.operator().apply(in)),
                            inputs);
            assertClose(found, expected, tolerance);
            found.forEach(array -> assertEquals(DataType.FLOAT32, array.getDataType()));
        }
    }

    private static NDList resultAndGradients(Function<NDList, NDArray> operator, NDList inputs) {
        inputs.forEach(input -> input.setRequiresGradient(true));
        NDList all = new NDList();
        all.addAll(
                Autograd.gradients(
                        () -> {
                            NDArray y = Tensors.toFloat32(operator.apply(inputs));
                            all.add(y.stopGradient());
                            return y.square().sum();
                        },
                        inputs));
        return all;
    }

    /** Small values, so that no softmax has only one key. */
    private static NDList inputs(OperatorCase each, NDManager manager) {
        NDList inputs = new NDList();
        for (Shape shape : each.inputs()) {
            inputs.add(manager.randomNormal(0, SPREAD, shape, DataType.FLOAT32));
        }
        return inputs;
    }

    private static void assertClose(NDList fused, NDList portable, double tolerance) {
        assertEquals(portable.size(), fused.size());
        for (int i = 0; i < fused.size(); i++) {
            NDArray expected = portable.get(i);
            assertEquals(expected.getShape(), fused.get(i).getShape());
            double error = norm(fused.get(i).sub(expected)) / norm(expected);
            assertTrue(error < tolerance, "result " + i + ": relative error " + error);
        }
    }

    private static double norm(NDArray x) {
        return Math.sqrt(x.toType(DataType.FLOAT64, true).square().sum().getDouble());
    }

    @Test
    void coversEveryOperatorOfTheLibrary() throws IOException {
        Path sources = Path.of("..", "kernels", "src", "main", "native");
        Set<String> operators;
        try (Stream<Path> folders = Files.list(sources)) {
            operators =
                    folders.filter(OperatorCaseTest::isOperator)
                            .map(folder -> folder.getFileName().toString())
                            .collect(Collectors.toSet());
        }
        Set<String> cases = cases().stream().map(OperatorCase::name).collect(Collectors.toSet());
        assertEquals(operators, Sets.union(cases, APART));
    }

    private static boolean isOperator(Path folder) {
        return Files.exists(folder.resolve(folder.getFileName() + "_op.cpp"));
    }
}
