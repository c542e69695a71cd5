package dev.saccade.report.runs;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.databind.util.Converter;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.google.common.collect.ImmutableList;
import com.google.common.io.ByteSource;
import com.google.common.primitives.Floats;
import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.Ints;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.report.Block;
import dev.saccade.report.Charts;
import dev.saccade.report.Commands;
import dev.saccade.report.DetectionExample;
import dev.saccade.report.Example;
import dev.saccade.report.FactList;
import dev.saccade.report.HeatMap;
import dev.saccade.report.SegmentationExample;
import dev.saccade.report.ShareTable;
import dev.saccade.report.TextTable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The {@code report.json} of a run, which holds its {@link RunMetrics}. */
public final class MetricsFile {

    private static final String NAME = "report.json";

    /** Raised when the format changes; files of other formats are ignored. */
    private static final int FORMAT = 2;

    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .registerModule(new Jdk8Module())
                    .registerModule(types())
                    .setVisibility(PropertyAccessor.GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY)
                    .addMixIn(Example.class, AnyExample.class)
                    .addMixIn(Block.class, AnyBlock.class);

    private MetricsFile() {}

    private record Content(int format, RunMetrics metrics) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = DetectionExample.class, name = "objects"),
        @JsonSubTypes.Type(value = SegmentationExample.class, name = "labels")
    })
    private interface AnyExample {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Charts.class, name = "charts"),
        @JsonSubTypes.Type(value = Commands.class, name = "commands"),
        @JsonSubTypes.Type(value = FactList.class, name = "facts"),
        @JsonSubTypes.Type(value = HeatMap.class, name = "map"),
        @JsonSubTypes.Type(value = ShareTable.class, name = "shares"),
        @JsonSubTypes.Type(value = TextTable.class, name = "texts")
    })
    private interface AnyBlock {}

    /** Reads the file of a run, if it has one of this format. */
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
                    "%s: is damaged; delete it to evaluate the run again (%s)",
                    file, e.getMessage());
        }
    }

    /** Writes the file of a run. */
    public static void write(Path run, RunMetrics metrics) {
        try {
            AtomicFile.write(
                    run.resolve(NAME), JSON.writeValueAsString(new Content(FORMAT, metrics)));
        } catch (IOException e) {
            throw SaccadeException.internal(e, "the metrics of a run cannot be written as JSON");
        }
    }

    private static SimpleModule types() {
        SimpleModule module = new SimpleModule();
        add(
                module,
                ImmutableDoubleArray.class,
                double[].class,
                ImmutableDoubleArray::toArray,
                ImmutableDoubleArray::copyOf);
        add(module, ByteSource.class, byte[].class, MetricsFile::read, ByteSource::wrap);
        add(
                module,
                Instances.class,
                StoredObjects.class,
                StoredObjects::of,
                StoredObjects::toInstances);
        return module;
    }

    /** Stores a type in the form of another. */
    private static <T, S> void add(
            SimpleModule module,
            Class<T> type,
            Class<S> stored,
            Function<T, S> store,
            Function<S, T> restore) {
        module.addSerializer(
                type, new StdDelegatingSerializer(type, new Mapping<>(type, stored, store)));
        module.addDeserializer(
                type, new StdDelegatingDeserializer<>(new Mapping<>(stored, type, restore)));
    }

    private record Mapping<I, O>(Class<I> in, Class<O> out, Function<I, O> function)
            implements Converter<I, O> {

        @Override
        public O convert(I value) {
            return function.apply(value);
        }

        @Override
        public JavaType getInputType(TypeFactory types) {
            return types.constructType(in);
        }

        @Override
        public JavaType getOutputType(TypeFactory types) {
            return types.constructType(out);
        }
    }

    private static byte[] read(ByteSource source) {
        try {
            return source.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stored {@link Instances}; masks as COCO's compressed run lengths. */
    private record StoredObjects(
            List<Float> boxes,
            List<Integer> labels,
            List<Float> scores,
            List<String> masks,
            Size size) {

        static StoredObjects of(Instances objects) {
            ImmutableList.Builder<Float> boxes = ImmutableList.builder();
            ImmutableList.Builder<Float> scores = ImmutableList.builder();
            for (int i = 0; i < objects.size(); i++) {
                Boxes all = objects.boxes();
                boxes.add(all.x1(i), all.y1(i), all.x2(i), all.y2(i));
                if (objects.hasScores()) {
                    scores.add(objects.score(i));
                }
            }
            return new StoredObjects(
                    boxes.build(),
                    Ints.asList(objects.labels()),
                    scores.build(),
                    objects.masks().stream().map(Rle::toCompressedString).toList(),
                    objects.hasMasks() ? objects.mask(0).size() : new Size(0, 0));
        }

        Instances toInstances() {
            Boxes all = Boxes.of(Floats.toArray(boxes));
            int[] classes = Ints.toArray(labels);
            Instances objects =
                    scores.isEmpty()
                            ? Instances.groundTruth(all, classes)
                            : Instances.predicted(all, classes, Floats.toArray(scores));
            return objects.withMasks(
                    masks.stream().map(mask -> Rle.fromString(size, mask)).toList());
        }
    }
}
