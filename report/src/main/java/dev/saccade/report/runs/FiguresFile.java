package dev.saccade.report.runs;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
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
import dev.saccade.report.DetectionExamples;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList;
import dev.saccade.report.HeatMap;
import dev.saccade.report.SegmentationExamples;
import dev.saccade.report.ShareTable;
import dev.saccade.report.TextTable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The {@code report.json} of a run, which holds its {@link RunFigures}. */
@SuppressWarnings("serial") // Jackson's writers are serializable; nobody serializes these.
public final class FiguresFile {

    private static final String NAME = "report.json";

    /** Raised when the form changes; files of another are as good as none. */
    private static final int FORMAT = 1;

    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .registerModule(new Jdk8Module())
                    .registerModule(
                            new SimpleModule()
                                    .addSerializer(ImmutableDoubleArray.class, new NumbersWriter())
                                    .addDeserializer(
                                            ImmutableDoubleArray.class, new NumbersReader())
                                    .addSerializer(ByteSource.class, new BytesWriter())
                                    .addDeserializer(ByteSource.class, new BytesReader())
                                    .addSerializer(Instances.class, new InstancesWriter())
                                    .addDeserializer(Instances.class, new InstancesReader()))
                    .setVisibility(PropertyAccessor.GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
                    .setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY)
                    .addMixIn(Examples.class, AnyExamples.class)
                    .addMixIn(Block.class, AnyBlock.class);

    private FiguresFile() {}

    /** What the file holds. */
    private record Content(int format, RunFigures figures) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = DetectionExamples.class, name = "objects"),
        @JsonSubTypes.Type(value = SegmentationExamples.class, name = "labels")
    })
    private interface AnyExamples {}

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

    /** Returns what is kept in a run, if there is anything that can be read. */
    public static Optional<RunFigures> read(Path run) {
        Path file = run.resolve(NAME);
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            JsonNode content = JSON.readTree(file.toFile());
            return content.path("format").asInt() == FORMAT
                    ? Optional.of(JSON.treeToValue(content, Content.class).figures)
                    : Optional.empty();
        } catch (IOException | IllegalArgumentException e) {
            throw SaccadeException.user(
                    "%s: is not what this program has written there; delete it, and report measures"
                            + " again (%s)",
                    file, e.getMessage());
        }
    }

    /** Keeps figures in a run. */
    public static void write(Path run, RunFigures figures) {
        try {
            AtomicFile.write(
                    run.resolve(NAME), JSON.writeValueAsString(new Content(FORMAT, figures)));
        } catch (IOException e) {
            throw SaccadeException.internal(e, "the figures of a run cannot be written as JSON");
        }
    }

    private static final class NumbersWriter extends JsonSerializer<ImmutableDoubleArray> {
        @Override
        public void serialize(ImmutableDoubleArray value, JsonGenerator out, SerializerProvider p)
                throws IOException {
            out.writeArray(value.toArray(), 0, value.length());
        }
    }

    private static final class NumbersReader extends JsonDeserializer<ImmutableDoubleArray> {
        @Override
        public ImmutableDoubleArray deserialize(JsonParser in, DeserializationContext context)
                throws IOException {
            return ImmutableDoubleArray.copyOf(context.readValue(in, double[].class));
        }
    }

    private static final class BytesWriter extends JsonSerializer<ByteSource> {
        @Override
        public void serialize(ByteSource value, JsonGenerator out, SerializerProvider p)
                throws IOException {
            out.writeBinary(value.read());
        }
    }

    private static final class BytesReader extends JsonDeserializer<ByteSource> {
        @Override
        public ByteSource deserialize(JsonParser in, DeserializationContext context)
                throws IOException {
            return ByteSource.wrap(in.getBinaryValue());
        }
    }

    /** Objects as they are kept: masks as COCO's compressed run lengths, if there are any. */
    private record Kept(
            List<Float> boxes,
            List<Integer> labels,
            List<Float> scores,
            List<String> masks,
            Size size) {

        static Kept of(Instances objects) {
            ImmutableList.Builder<Float> boxes = ImmutableList.builder();
            ImmutableList.Builder<Float> scores = ImmutableList.builder();
            for (int i = 0; i < objects.size(); i++) {
                Boxes all = objects.boxes();
                boxes.add(all.x1(i), all.y1(i), all.x2(i), all.y2(i));
                if (objects.hasScores()) {
                    scores.add(objects.score(i));
                }
            }
            return new Kept(
                    boxes.build(),
                    Ints.asList(objects.labels()),
                    scores.build(),
                    objects.masks().stream().map(Rle::toCompressedString).toList(),
                    objects.hasMasks() ? objects.mask(0).size() : new Size(0, 0));
        }

        Instances restore() {
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

    private static final class InstancesWriter extends JsonSerializer<Instances> {
        @Override
        public void serialize(Instances value, JsonGenerator out, SerializerProvider p)
                throws IOException {
            p.defaultSerializeValue(Kept.of(value), out);
        }
    }

    private static final class InstancesReader extends JsonDeserializer<Instances> {
        @Override
        public Instances deserialize(JsonParser in, DeserializationContext context)
                throws IOException {
            return context.readValue(in, Kept.class).restore();
        }
    }
}
