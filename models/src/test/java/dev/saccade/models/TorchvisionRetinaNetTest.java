package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import com.google.common.io.Resources;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.core.structures.Size;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Compares names, shapes and counts with torchvision's RetinaNets. */
class TorchvisionRetinaNetTest {

    private static final String V1 = "retinanet_resnet50_fpn";
    private static final String V2 = "retinanet_resnet50_fpn_v2";

    @ParameterizedTest
    @ValueSource(strings = {V1, V2})
    void translatesTorchvisionNamesAndShapes(String name) throws IOException {
        assertEquals(ours(name), translated(theirs(name, UnaryOperator.identity())));
    }

    @Test
    void readsNamesFromBeforeTorchvision013() throws IOException {
        UnaryOperator<String> old =
                name -> {
                    String shorter = name.replaceAll("_blocks\\.(\\d)\\.0\\.", "_blocks.$1.");
                    for (int i = 3; i > 0; i--) {
                        shorter =
                                shorter.replace(
                                        "head.conv." + i + ".0.", "head.conv." + 2 * i + ".");
                    }
                    return shorter.replace("head.conv.0.0.", "head.conv.0.");
                };

        assertEquals(ours(V1), translated(theirs(V1, old)));
    }

    @ParameterizedTest
    @ValueSource(strings = {V1, V2})
    void translatesSaccadeNamesBack(String name) throws IOException {
        Checkpoint theirs = theirs(name, UnaryOperator.identity());

        Checkpoint back = Naming.of("torchvision").fromSaccade(Naming.toSaccade(theirs));

        assertEquals(theirs, back);
    }

    /**
     * Published as {@code num_params} and {@code _ops}; a {@code FrozenBatchNorm2d} has 53,120
     * weights and biases that are not counted.
     */
    @ParameterizedTest
    @CsvSource({V1 + ", 34014999, 53120, 151.54", V2 + ", 38198935, 0, 152.238"})
    void hasTheSizeOfTorchvision(String name, long parameters, long frozen, double billions) {
        Model<?> model = recipe(name).model().build(Collections.nCopies(91, "thing"));

        assertEquals(parameters, model.parameterCount() - frozen);
        assertEquals(billions, model.multiplyAdds(new Size(800, 800)) / 1e9, 0.1);
    }

    @Test
    void freezesAllBatchNormalizationsOfVersion1() {
        long frozen =
                recipe(V1)
                        .model()
                        .build(List.of("thing"))
                        .backbone()
                        .namedParameters()
                        .entrySet()
                        .stream()
                        .filter(
                                entry ->
                                        entry.getKey()
                                                .matches(".*(bn\\d|sample\\.1).(weight|bias)"))
                        .filter(entry -> !entry.getValue().requiresGradient())
                        .mapToLong(entry -> entry.getValue().getShape().size())
                        .sum();

        assertEquals(53120, frozen);
    }

    private static Recipe recipe(String name) {
        return Zoo.packaged()
                .recipe("retinanet/" + name.replace("retinanet_", "") + "_torchvision");
    }

    private static Map<String, Shape> ours(String name) {
        Map<String, Shape> shapes = new TreeMap<>();
        recipe(name)
                .model()
                .build(Collections.nCopies(80, "thing"))
                .namedParameters()
                .forEach((key, parameter) -> shapes.put(key, parameter.getShape()));
        return shapes;
    }

    private static Map<String, Shape> translated(Checkpoint theirs) {
        Map<String, Shape> shapes = new TreeMap<>();
        Naming.toSaccade(theirs)
                .tensors()
                .forEach((name, tensor) -> shapes.put(name, tensor.shape()));
        shapes.keySet().removeIf(name -> name.endsWith("num_batches_tracked"));
        return shapes;
    }

    private static Checkpoint theirs(String name, UnaryOperator<String> renaming)
            throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        Resources.readLines(
                        Resources.getResource(TorchvisionRetinaNetTest.class, name + ".names"),
                        StandardCharsets.UTF_8)
                .stream()
                .map(line -> line.split(" "))
                .forEach(words -> tensors.put(renaming.apply(words[0]), tensor(words)));
        return new Checkpoint(tensors, Map.of());
    }

    private static Tensor tensor(String... words) {
        Shape shape = new Shape(Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray());
        return new Tensor(ElementType.UINT8, shape, ByteBuffer.allocate((int) shape.size()));
    }
}
