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

/** Predictions of images, and the errors of unusable images. */
public final class Predictions {

    static final String NAME = "predictions.json";

    static final ObjectMapper JSON = new ObjectMapper();

    private final List<JsonNode> entries = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final ImageWarnings warnings = new ImageWarnings();

    /** Predictions sent between ranks. */
    private record Content(
            List<JsonNode> entries,
            List<String> faults,
            Map<String, ImageWarnings.Images> warnings) {}

    /**
     * Predicts images with at most {@code maxPixels} pixels; collects errors of unusable images.
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

    public void add(ImageSource image, PredictionWriter writer) {
        entries.add(writer.write(warnings.of(image)));
    }

    public List<JsonNode> entries() {
        return entries;
    }

    /** Returns an error message for each unusable image. */
    public List<String> faults() {
        return faults;
    }

    public ImageWarnings warnings() {
        return warnings;
    }

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
            throw SaccadeException.internal(e, "predictions of a rank cannot be exchanged");
        }
        return all;
    }
}
