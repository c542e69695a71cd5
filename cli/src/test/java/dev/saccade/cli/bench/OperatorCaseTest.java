package dev.saccade.cli.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Sets;

import dev.saccade.core.nn.Autograd;
import dev.saccade.core.ops.Kernels;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.OperatorLibrary;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

class OperatorCaseTest {

    private static final float SPREAD = 0.1f;

    private static final double TOLERANCE = 1e-4;

    /** Held against their portable forms in OptimizerTest, MaskCropTest and MaskPasteTest. */
    private static final Set<String> APART =
            Set.of("adamw", "norms", "mask_targets", "paste_masks");

    static List<OperatorCase> cases() {
        return OperatorCase.all(1);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void isTheSameFusedAndPortable(OperatorCase each) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList inputs = inputs(each, manager);
            Supplier<NDList> forward =
                    () -> new NDList(NoGrad.call(() -> each.operator().apply(inputs)));
            assertClose(forward.get(), OperatorLibrary.portably(forward));
            if (each.differentiable()) {
                inputs.forEach(input -> input.setRequiresGradient(true));
                Supplier<NDList> gradients =
                        () ->
                                Autograd.gradients(
                                        () -> each.operator().apply(inputs).square().sum(), inputs);
                assertClose(gradients.get(), OperatorLibrary.portably(gradients));
            }
        }
    }

    /** Small ones, so that no softmax is all of one key. */
    private static NDList inputs(OperatorCase each, NDManager manager) {
        NDList inputs = new NDList();
        for (Shape shape : each.inputs()) {
            inputs.add(manager.randomNormal(0, SPREAD, shape, DataType.FLOAT32));
        }
        return inputs;
    }

    private static void assertClose(NDList fused, NDList portable) {
        assertEquals(portable.size(), fused.size());
        for (int i = 0; i < fused.size(); i++) {
            NDArray expected = portable.get(i);
            assertEquals(expected.getShape(), fused.get(i).getShape());
            double error = norm(fused.get(i).sub(expected)) / norm(expected);
            assertTrue(error < TOLERANCE, "result " + i + ": relative error " + error);
        }
    }

    private static double norm(NDArray x) {
        return Math.sqrt(x.toType(DataType.FLOAT64, true).square().sum().getDouble());
    }

    @Test
    void thereIsOneOfEveryOperatorOfTheLibrary() throws IOException {
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
