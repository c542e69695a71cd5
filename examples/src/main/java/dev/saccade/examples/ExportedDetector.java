package dev.saccade.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The folder of a detector that was exported: the model, and what {@code model.json} says of it.
 */
final class ExportedDetector {

    private final Path folder;
    private final JsonNode description;

    /**
     * Reads the description.
     *
     * @param format {@code onnx} or {@code torchscript}, which is expected
     * @throws IOException if it cannot be read, or is that of another kind of model
     */
    ExportedDetector(Path folder, String format) throws IOException {
        this.folder = folder;
        this.description = new ObjectMapper().readTree(folder.resolve("model.json").toFile());
        require("format", format);
        require("task", "detection");
    }

    private void require(String key, String expected) throws IOException {
        String got = description.path(key).asText();
        if (!got.equals(expected)) {
            throw new IOException(folder + ": " + key + ": got " + got + ", expected " + expected);
        }
    }

    /** Returns a file of the folder. */
    Path file(String name) {
        return folder.resolve(name);
    }

    /** Reads a photograph and prepares it for the model. */
    PreparedPhoto prepare(Path photo) throws IOException {
        return new PreparedPhoto(RgbImage.read(photo), description);
    }

    /**
     * Returns a line for each object of a photograph, best first: its name, its score, and its box
     * in pixels of the photograph.
     *
     * @param boxes four numbers an object
     * @param count so many of them are objects
     * @param leastScore objects below it are left out
     */
    List<String> lines(
            PreparedPhoto photo,
            float[] boxes,
            long[] labels,
            float[] scores,
            long count,
            double leastScore) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < count && scores[i] >= leastScore; i++) {
            lines.add(
                    String.format(
                            Locale.ROOT,
                            "%s %.4f %.2f %.2f %.2f %.2f",
                            description.path("classes").path((int) labels[i]).asText(),
                            scores[i],
                            boxes[4 * i] / photo.scaleX(),
                            boxes[4 * i + 1] / photo.scaleY(),
                            boxes[4 * i + 2] / photo.scaleX(),
                            boxes[4 * i + 3] / photo.scaleY()));
        }
        return lines;
    }
}
