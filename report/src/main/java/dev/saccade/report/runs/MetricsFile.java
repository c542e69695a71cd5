package dev.saccade.report.runs;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.google.common.primitives.Floats;
import com.google.common.primitives.Ints;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads and writes {@code report.json}. */
public final class MetricsFile {

    private static final String NAME = "report.json";

    /** Increased when the format changes; other formats are ignored. */
    private static final int FORMAT = 6;

    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .registerModule(new Jdk8Module())
                    .registerModule(
                            new SimpleModule()
                                    .addSerializer(
                                            new StdDelegatingSerializer(
                                                    Instances.class, new Store()))
                                    .addDeserializer(
                                            Instances.class,
                                            new StdDelegatingDeserializer<>(new Restore())))
                    .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
                    .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
                    .setVisibility(PropertyAccessor.GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY);

    private MetricsFile() {}

    private record Content(int format, RunMetrics metrics) {}

    /** Reads the file of a run; empty if missing or in another format. */
    public static Optional<RunMetrics> read(Path run) {
        Path file = run.resolve(NAME);
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            JsonNode content = JSON.readTree(file.toFile());
            return content.path("format").asInt() == FORMAT
                    ? Optional.of(JSON.treeToValue(content, Content.class).metrics)
                    : Optional.empty();
        } catch (IOException | IllegalArgumentException e) {
            throw SaccadeException.user(
                    "%s: damaged file; delete it to evaluate the run again (%s)",
                    file, e.getMessage());
        }
    }

    public static void write(Path run, RunMetrics metrics) {
        try {
            AtomicFile.write(
                    run.resolve(NAME), JSON.writeValueAsString(new Content(FORMAT, metrics)));
        } catch (IOException e) {
            throw SaccadeException.internal(e, "the metrics of a run cannot be written as JSON");
        }
    }

    /** Stored {@link Instances}, with compressed RLE masks. */
    private record StoredObjects(
            List<Float> boxes,
            List<Integer> labels,
            List<Float> scores,
            List<String> masks,
            Size size) {}

    private static final class Store extends StdConverter<Instances, StoredObjects> {

        @Override
        public StoredObjects convert(Instances objects) {
            Boxes all = objects.boxes();
            List<Float> boxes = new ArrayList<>();
            List<Float> scores = new ArrayList<>();
            for (int i = 0; i < objects.size(); i++) {
                boxes.addAll(Floats.asList(all.x1(i), all.y1(i), all.x2(i), all.y2(i)));
                if (objects.hasScores()) {
                    scores.add(objects.score(i));
                }
            }
            return new StoredObjects(
                    boxes,
                    Ints.asList(objects.labels()),
                    scores,
                    objects.masks().stream().map(Rle::toCompressedString).toList(),
                    objects.hasMasks() ? objects.mask(0).size() : new Size(0, 0));
        }
    }

    private static final class Restore extends StdConverter<StoredObjects, Instances> {

        @Override
        public Instances convert(StoredObjects stored) {
            Boxes boxes = Boxes.of(Floats.toArray(stored.boxes));
            int[] labels = Ints.toArray(stored.labels);
            Instances objects =
                    stored.scores.isEmpty()
                            ? Instances.groundTruth(boxes, labels)
                            : Instances.predicted(boxes, labels, Floats.toArray(stored.scores));
            return objects.withMasks(
                    stored.masks.stream().map(mask -> Rle.fromString(stored.size, mask)).toList());
        }
    }
}
