package dev.saccade.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An exported detector and its {@code model.json}. */
final class ExportedDetector {

    private final Path folder;
    private final JsonNode description;

    /** Reads {@code model.json}; the expected format is {@code onnx} or {@code torchscript}. */
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

    Path file(String name) {
        return folder.resolve(name);
    }

    PreprocessedImage prepare(Path image) throws IOException {
        return new PreprocessedImage(RgbImage.read(image), description);
    }

    /**
     * Returns a line per object with at least {@code minScore}: label, score and box in pixels of
     * the original image. {@code boxes} has 4 values per object; {@code scores} are descending.
     */
    List<String> lines(
            PreprocessedImage image,
            float[] boxes,
            long[] labels,
            float[] scores,
            long count,
            double minScore) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < count && scores[i] >= minScore; i++) {
            lines.add(
                    String.format(
                            Locale.ROOT,
                            "%s %.4f %.2f %.2f %.2f %.2f",
                            description.path("classes").path((int) labels[i]).asText(),
                            scores[i],
                            boxes[4 * i] / image.scaleX(),
                            boxes[4 * i + 1] / image.scaleY(),
                            boxes[4 * i + 2] / image.scaleX(),
                            boxes[4 * i + 3] / image.scaleY()));
        }
        return lines;
    }
}
