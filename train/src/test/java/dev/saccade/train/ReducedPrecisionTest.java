package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.config.Configs;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Every registered backbone and every registered head in bfloat16, each with a third of the others:
 * {@link EveryCombinationTest} runs all pairs.
 */
class ReducedPrecisionTest {

    private static final Size SIZE = new Size(67, 93);

    /** Of the loss; other proposals, too, make another loss. */
    private static double tolerance(String head) {
        return EveryCombinationTest.PROPOSING.contains(head) ? 0.15 : 0.03;
    }

    static Stream<Arguments> combinations() {
        List<Arguments> all = EveryCombinationTest.combinations().toList();
        int heads = EveryCombinationTest.HEADS.entries().size();
        return IntStream.range(0, all.size())
                .filter(i -> (i / heads + i % heads) % 3 == 0)
                .mapToObj(all::get);
    }

    @BeforeAll
    static void requireAutocast() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void trainsLikeFloat32AndKeepsFloat32Weights(String backbone, String head) {
        Model<?> model =
                EveryCombinationTest.config(backbone, head).build(List.of("cat", "dog", "sky"));
        try (NDManager manager = NDManager.newBaseManager("PyTorch");
                Optimizer optimizer = optimizer(model, manager)) {
            NoiseScene scene = new NoiseScene(manager, 2, SIZE);
            List<Float> losses = new ArrayList<>();
            scene.gradients(model, optimizer, losses::add);
            Gradients gradients = inBfloat16(() -> scene.gradients(model, optimizer, losses::add));
            assertEquals(losses.get(0), losses.get(1), tolerance(head) * losses.get(0));
            gradients
                    .arrays()
                    .forEach(
                            (name, gradient) -> {
                                assertEquals(DataType.FLOAT32, gradient.getDataType(), name);
                                assertTrue(isFinite(gradient), name + ": not finite");
                            });
            optimizer.step(gradients, 1, 1e-4);
            Checkpoint.of(model, Map.of())
                    .tensors()
                    .forEach((name, tensor) -> assertEquals(ElementType.FLOAT32, tensor.type()));
            model.train(false);
            assertEquals(2, inBfloat16(() -> model.predict(scene.batch())).size());
        }
    }

    private static boolean isFinite(NDArray gradient) {
        for (float value : gradient.toFloatArray()) {
            if (!Float.isFinite(value)) {
                return false;
            }
        }
        return true;
    }

    private static Optimizer optimizer(Model<?> model, NDManager manager) {
        model.initialize(manager, 0);
        model.train(true);
        return Configs.of(AdamW.Config.class).build(model);
    }

    private static <T> T inBfloat16(Supplier<T> body) {
        return Autocast.call(Precision.BFLOAT16, Device.cpu(), body);
    }
}
