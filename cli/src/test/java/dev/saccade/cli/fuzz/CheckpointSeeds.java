package dev.saccade.cli.fuzz;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Small checkpoints of three formats. */
final class CheckpointSeeds {

    private CheckpointSeeds() {}

    static List<byte[]> safetensors() {
        byte[] plain =
                header(
                        """
                        {"__metadata__": {"format": "pt", "saccade.model": "model: {}\\nclasses: [a]"},
                         "a.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                         "a.bias": {"dtype": "I64", "shape": [], "data_offsets": [8, 16]},
                         "none": {"dtype": "BF16", "shape": [3, 0], "data_offsets": [16, 16]}}
                        """,
                        16);
        return List.of(written(".safetensors"), plain, header("{\"__metadata__\": {}}", 0));
    }

    static List<byte[]> zip() {
        return Stream.concat(
                        Stream.of(written(".pth")),
                        Stream.of(
                                        "kinds_zip.pth",
                                        "training_zip.pth",
                                        "protocol4.pth",
                                        "shell_zip.pth")
                                .map(CheckpointSeeds::file))
                .toList();
    }

    static List<byte[]> legacy() {
        return Stream.of("kinds_legacy.pth", "training_legacy.pth", "shell_legacy.pth")
                .map(CheckpointSeeds::file)
                .toList();
    }

    private static byte[] file(String name) {
        Path file =
                Path.of(
                        System.getProperty("saccade.home", ".."),
                        "checkpoint/src/test/resources/dev/saccade/checkpoint",
                        name);
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns what Saccade writes. */
    static byte[] written(String ending) {
        Map<String, Tensor> tensors = Map.of("conv.weight", Tensor.of(new Shape(2), 1.5f, 0));
        try {
            Path file = Files.createTempFile("seed", ending);
            Checkpoints.save(file, new Checkpoint(tensors, Map.of("run.iteration", "7")));
            byte[] bytes = Files.readAllBytes(file);
            Files.delete(file);
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] header(String json, int data) {
        byte[] text = Texts.bytes(json);
        byte[] length = Bytes.integer(text.length, Long.BYTES, ByteOrder.LITTLE_ENDIAN);
        return Bytes.concat(length, text, new byte[data]);
    }
}
