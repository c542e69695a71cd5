package dev.saccade.models.zoo;

import ai.djl.ndarray.types.Shape;

import com.google.common.io.Resources;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Names and shapes of published checkpoints, in resources named after recipes. */
final class RecordedNames {

    private RecordedNames() {}

    /** Returns a checkpoint of zeros that share memory. */
    static Checkpoint checkpoint(String recipe) throws IOException {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        Resources.readLines(
                        Resources.getResource(RecordedNames.class, recipe + ".names"),
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
