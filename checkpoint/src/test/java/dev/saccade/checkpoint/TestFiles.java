package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import java.io.IOException;
import java.io.InputStream;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Test resource files, and tensors to write. */
public final class TestFiles {

    private TestFiles() {}

    public static byte[] bytes(String name) {
        try (InputStream in = TestFiles.class.getResourceAsStream(name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(name, e);
        }
    }

    public static Path copy(String name, Path folder) throws IOException {
        return Files.write(folder.resolve(name), bytes(name));
    }

    public static Tensor ones(Shape shape) {
        float[] values = new float[(int) shape.size()];
        Arrays.fill(values, 1);
        return Tensor.of(shape, values);
    }

    public static float[] values(Tensor tensor) {
        FloatBuffer buffer = tensor.floats();
        float[] values = new float[buffer.remaining()];
        buffer.get(values);
        return values;
    }

    public static Checkpoint ofOnes(Map<String, Shape> shapes) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        shapes.forEach((name, shape) -> tensors.put(name, ones(shape)));
        return new Checkpoint(tensors, Map.of());
    }
}
