package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.io.Resources;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Compares recipes with the names and shapes of mmdetection's zoo checkpoints. */
class MmdetectionCheckpointsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "atss/resnet50_fpn_1x_coco",
                "dyhead/resnet50_fpn_1x_coco",
                "dyhead/swin_large_fpn_2x_coco",
                "htc/resnet50_fpn_1x_coco",
                "htc/resnext101_64x4d_fpn_20e_coco"
            })
    void allTensorsMatchTheRecipe(String recipe) throws IOException {
        ModelSpec spec = Zoo.packaged().recipe(recipe).spec();
        Model<?> model = spec.model().build(spec.classes());
        try (NDManager manager = NDManager.newBaseManager()) {
            LoadReport report = Weights.restore(checkpoint(recipe), model, manager);
            assertEquals(List.of(), report.unexpected());
            assertEquals(List.of(), report.names().get(LoadReport.Status.IGNORED));
            assertEquals(List.of(), report.newParameters());
            assertEquals(model.namedParameters().size(), report.loaded().size());
        }
    }

    /** Returns a checkpoint of zeros that share memory. */
    private static Checkpoint checkpoint(String recipe) throws IOException {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        Resources.readLines(
                        Resources.getResource(MmdetectionCheckpointsTest.class, recipe + ".names"),
                        StandardCharsets.UTF_8)
                .stream()
                .map(line -> line.split(" "))
                .forEach(words -> shapes.put(words[0], shape(words)));
        long largest = shapes.values().stream().mapToLong(Shape::size).max().orElseThrow();
        ByteBuffer zeros = ByteBuffer.allocate((int) largest * Float.BYTES);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        shapes.forEach(
                (name, shape) ->
                        tensors.put(
                                name,
                                new Tensor(
                                        ElementType.FLOAT32,
                                        shape,
                                        zeros.slice(0, (int) shape.size() * Float.BYTES))));
        return new Checkpoint(tensors, Map.of());
    }

    private static Shape shape(String... words) {
        return new Shape(Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray());
    }
}
