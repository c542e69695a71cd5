package dev.saccade.backbones;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.config.Configs;
import dev.saccade.core.conversion.NamePattern;
import dev.saccade.core.nn.Module;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Names and shapes of other libraries' checkpoints, from the files next to the tests. */
final class Stored {

    private Stored() {}

    /** Returns the names and shapes that a file lists. */
    static Map<String, Shape> names(String file) {
        try (InputStream in = Stored.class.getResourceAsStream(file)) {
            Map<String, Shape> shapes = new TreeMap<>();
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.split(" "))
                    .forEach(words -> shapes.put(words[0], shape(words)));
            return shapes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Shape shape(String... words) {
        return new Shape(Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray());
    }

    static Map<String, Shape> shapes(Checkpoint checkpoint) {
        Map<String, Shape> shapes = new TreeMap<>();
        checkpoint.tensors().forEach((name, tensor) -> shapes.put(name, tensor.shape()));
        return shapes;
    }

    static Map<String, Shape> shapes(Module module) {
        Map<String, Shape> shapes = new TreeMap<>();
        module.namedParameters()
                .forEach((name, parameter) -> shapes.put(name, parameter.getShape()));
        return shapes;
    }

    static boolean isAny(List<NamePattern> patterns, String name) {
        return patterns.stream().anyMatch(pattern -> pattern.matches(name));
    }

    static Tensor ones(Shape shape) {
        float[] values = new float[(int) shape.size()];
        Arrays.fill(values, 1);
        return Tensor.of(shape, values);
    }

    static float[] values(Tensor tensor) {
        FloatBuffer buffer = tensor.floats();
        float[] values = new float[buffer.remaining()];
        buffer.get(values);
        return values;
    }

    static Checkpoint ofOnes(Map<String, Shape> shapes) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        shapes.forEach((name, shape) -> tensors.put(name, ones(shape)));
        return new Checkpoint(tensors, Map.of());
    }

    /** Returns a narrow Swin Transformer with absolute position embeddings for 16x16 images. */
    static Swin swin(int window) {
        return Configs.of(
                        Swin.Config.class,
                        "embed_dim=4",
                        "depths=[1, 2, 1, 1]",
                        "num_heads=[1, 2, 4, 8]",
                        "window_size=" + window,
                        "mlp_ratio=2",
                        "ape=true",
                        "pretrain_img_size=16",
                        "drop_path_rate=0")
                .build();
    }
}
