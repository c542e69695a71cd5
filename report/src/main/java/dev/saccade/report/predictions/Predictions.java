package dev.saccade.report.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.image.ImageSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/** Predictions for images, and the images that could not be used. */
public final class Predictions {

    static final String NAME = "predictions.json";

    static final ObjectMapper JSON = new ObjectMapper();

    private final List<JsonNode> entries = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final ImageWarnings warnings = new ImageWarnings();

    /** Content of another process. */
    private record Content(
            List<JsonNode> entries,
            List<String> faults,
            Map<String, ImageWarnings.Images> warnings) {}

    /**
     * Predicts images; one that cannot be used becomes a fault.
     *
     * @param maxPixels maximum number of pixels of an image
     * @param stopped whether to stop
     * @param progress receives the number of finished images
     */
    public void addAll(
            List<Path> images,
            PredictionWriter writer,
            long maxPixels,
            BooleanSupplier stopped,
            LongConsumer progress) {
        for (int i = 0; i < images.size() && !stopped.getAsBoolean(); i++) {
            try {
                add(ImageInputs.source(images.get(i)).maxPixels(maxPixels), writer);
            } catch (SaccadeException e) {
                if (e.kind() != SaccadeException.Kind.USER) {
                    throw e;
                }
                faults.add(e.getMessage());
            }
            progress.accept(i + 1);
        }
    }

    /** Predicts an image. */
    public void add(ImageSource image, PredictionWriter writer) {
        entries.add(writer.write(warnings.of(image)));
    }

    /** Returns the JSON entry of each image. */
    public List<JsonNode> entries() {
        return entries;
    }

    /** Returns why images could not be used. */
    public List<String> faults() {
        return faults;
    }

    public ImageWarnings warnings() {
        return warnings;
    }

    /** Writes {@code predictions.json}. */
    public void write(OutputFolder folder) {
        folder.write(NAME, JSON.valueToTree(entries).toPrettyString().getBytes(UTF_8));
    }

    /** Returns the predictions of all ranks; every rank must call this. */
    public Predictions gather(ProcessGroup ranks) {
        if (ranks.worldSize() == 1) {
            return this;
        }
        Predictions all = new Predictions();
        try {
            Content own = new Content(entries, faults, warnings.images());
            for (byte[] bytes : ranks.allGather(JSON.writeValueAsBytes(own))) {
                Content content = JSON.readValue(bytes, Content.class);
                all.entries.addAll(content.entries);
                all.faults.addAll(content.faults);
                all.warnings.addAll(content.warnings);
            }
        } catch (IOException e) {
            throw SaccadeException.internal(e, "predictions of a rank");
        }
        return all;
    }
}
