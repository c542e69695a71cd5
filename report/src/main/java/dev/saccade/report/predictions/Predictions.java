package dev.saccade.report.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Ascii;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.Workers;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.image.Georeference;
import dev.saccade.datasets.image.ImageSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
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
     * Predicts images, several at the same time; collects errors of unusable images. Keeps the
     * order of the images.
     *
     * @param progress such as a {@link TaskMonitor}
     * @throws TaskCancelledException if the monitor is cancelled; the finished images are added
     */
    public void addAll(List<Path> images, PredictionWriter writer, ProgressBar.Factory progress) {
        try (ProgressBar bar = progress.open("predict", images.size(), " images")) {
            addAll(images, writer, ImageInfo.MAX_PIXELS, () -> false, bar::to);
        }
    }

    /**
     * Predicts images with at most {@code maxPixels} pixels, several at the same time; collects
     * errors of unusable images. Keeps the order of the images. After any other error, starts no
     * further images, adds the finished ones and rethrows the error.
     */
    public void addAll(
            List<Path> images,
            PredictionWriter writer,
            long maxPixels,
            BooleanSupplier stopped,
            LongConsumer progress) {
        writer.pictures().reserve(images.stream().map(ImageInputs::sourceName).toList());
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        List<Callable<Predictions>> tasks = new ArrayList<>();
        for (Path image : images) {
            tasks.add(
                    () -> {
                        Predictions one = new Predictions();
                        if (failure.get() == null && !stopped.getAsBoolean()) {
                            try {
                                one.addUsable(image, maxPixels, writer);
                            } catch (RuntimeException e) {
                                failure.compareAndSet(null, e);
                            }
                        }
                        return one;
                    });
        }
        try (Workers workers = new Workers("saccade-predict", writer.model().streams())) {
            workers.run(
                    tasks,
                    one -> {
                        addAll(new Content(one.entries, one.faults, one.warnings.images()));
                        try {
                            progress.accept(entries.size() + faults.size());
                        } catch (TaskCancelledException e) {
                            failure.compareAndSet(null, e);
                        }
                    });
        }
        if (failure.get() != null) {
            throw failure.get();
        }
    }

    private void addUsable(Path image, long maxPixels, PredictionWriter writer) {
        try {
            add(ImageInputs.source(image).maxPixels(maxPixels), writer);
        } catch (SaccadeException e) {
            if (e.kind() != SaccadeException.Kind.USER) {
                throw e;
            }
            faults.add(e.getMessage());
        }
    }

    public void add(ImageSource image, PredictionWriter writer) {
        entries.add(writer.write(warnings.of(image)));
    }

    private void addAll(Content content) {
        entries.addAll(content.entries);
        faults.addAll(content.faults);
        warnings.addAll(content.warnings);
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

    /**
     * Writes {@code predictions.json}, and {@code predictions.geojson} if images are georeferenced;
     * returns notes about the latter.
     */
    public List<String> write(OutputFolder folder) {
        folder.write(NAME, JSON.valueToTree(entries).toPrettyString().getBytes(UTF_8));
        GeoJson geoJson = new GeoJson();
        for (JsonNode entry : entries) {
            String image = entry.get("image").asText();
            if (Ascii.toLowerCase(image).matches(".*\\.tiff?")) {
                Georeference.read(Path.of(image), warnings.receiver(image))
                        .ifPresent(found -> geoJson.add(entry, found));
            }
        }
        return geoJson.write(folder);
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
                all.addAll(JSON.readValue(bytes, Content.class));
            }
        } catch (IOException e) {
            throw SaccadeException.internal(e, "predictions of a rank cannot be exchanged");
        }
        return all;
    }
}
