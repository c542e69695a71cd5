package dev.saccade.eval.coco;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.base.Ascii;
import com.google.common.collect.HashMultimap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Iterables;
import com.google.common.collect.SetMultimap;
import com.google.common.collect.Sets;
import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.Ints;
import com.google.common.primitives.Longs;

import dev.saccade.core.Json;
import dev.saccade.core.Problems;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/** Reads one result file; see {@link CocoResults}. */
final class CocoResultsReader {

    /** Reading stops after this number of invalid detections. */
    private static final int MAX_PROBLEMS = 20;

    private static final Rle NO_MASK = Rle.fromCounts(new Size(0, 0));

    private static final int MAX_SHOWN_LENGTH = 40;

    private static final Set<String> KNOWN =
            ImmutableSet.of("image_id", "category_id", "score", "bbox", "segmentation");

    private final Path file;
    private final Map<Long, Size> images = new HashMap<>();
    private final SetMultimap<String, Long> imagesByName = HashMultimap.create();
    private final Map<Long, Integer> labels = new HashMap<>();
    private final CocoDetections.Builder detections = new CocoDetections.Builder();
    private final Problems problems = new Problems();

    /** Fields to read; empty until the first detection shows whether there are masks. */
    private Set<String> fields = ImmutableSet.of();

    private Set<String> required = ImmutableSet.of();

    /** First error of the current detection; empty if it is valid. */
    private String error = "";

    CocoResultsReader(Path file, Dataset dataset, IouType iouType) {
        this(file, dataset);
        String outline = iouType == IouType.BOX ? "bbox" : "segmentation";
        this.required = ImmutableSet.of("image_id", "category_id", "score", outline);
        this.fields = required;
    }

    CocoResultsReader(Path file, Dataset dataset) {
        this.file = file;
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile image = dataset.image(i);
            images.put(image.id(), image.size());
            String name = image.file().getFileName().toString();
            imagesByName.put(name, image.id());
            imagesByName.put(name.replaceFirst("\\.[^.]*$", ""), image.id());
        }
        for (int label = 0; label < dataset.classes().size(); label++) {
            labels.put(dataset.categoryId(label), label);
        }
    }

    CocoDetections read() {
        try (InputStream stream = RegularFile.open(file);
                JsonParser parser = Json.parser(stream)) {
            try {
                readArray(parser);
            } catch (JsonProcessingException e) {
                throw SaccadeException.user(
                        "%s: invalid JSON at %s: %s",
                        file, place(Json.location(e, parser)), e.getOriginalMessage());
            }
        } catch (NoSuchFileException e) {
            throw SaccadeException.user("%s: no such file", file);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
        problems.throwIfAny(file.toString());
        return detections.build();
    }

    private static String place(JsonLocation location) {
        return Text.format("line %d, column %d", location.getLineNr(), location.getColumnNr());
    }

    private void readArray(JsonParser parser) throws IOException {
        if (parser.nextToken() != JsonToken.START_ARRAY) {
            problems.add("expected an array of detections, got %s", describe(parser));
            return;
        }
        for (int record = 0; parser.nextToken() != JsonToken.END_ARRAY; record++) {
            JsonLocation start = parser.currentTokenLocation();
            error = "";
            readRecord(parser);
            if (!error.isEmpty()) {
                problems.add("detection %d (%s): %s", record, place(start), error);
            }
            if (problems.messages().size() == MAX_PROBLEMS) {
                problems.add("stopped after %d errors", MAX_PROBLEMS);
                return;
            }
        }
    }

    private void readRecord(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            expected("an object", parser);
            return;
        }
        Set<String> unread = new HashSet<>(fields.isEmpty() ? KNOWN : fields);
        long imageId = 0;
        long categoryId = 0;
        double score = 0;
        Optional<Annotation.Bbox> box = Optional.empty();
        Optional<Function<Size, Rle>> outline = Optional.empty();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            if (!unread.remove(name)) {
                parser.skipChildren();
                continue;
            }
            switch (name) {
                case "image_id" -> imageId = imageId(parser);
                case "category_id" -> categoryId = integer(name, parser);
                case "score" -> score = number(name, parser);
                case "bbox" -> box = box(parser);
                default -> outline = outline(parser);
            }
        }
        if (outline.isEmpty()) {
            unread.add("segmentation");
        }
        chooseFields(unread);
        Set<String> missing = Sets.intersection(required, unread);
        if (!missing.isEmpty()) {
            fail("lacks " + String.join(", ", Sets.newTreeSet(missing)));
        } else if (!images.containsKey(imageId)) {
            fail(Text.format("image_id %d is not in the data set", imageId));
        } else if (!labels.containsKey(categoryId)) {
            Set<Long> known = Sets.newTreeSet(labels.keySet());
            fail(Text.format("got category_id %d, expected one of %s", categoryId, known));
        }
        if (error.isEmpty()) {
            add(imageId, labels.get(categoryId), score, box, outline);
        }
    }

    /** Requires masks if the first detection has one, else boxes. */
    private void chooseFields(Set<String> unread) {
        if (required.isEmpty()) {
            String outline = unread.contains("segmentation") ? "bbox" : "segmentation";
            required = ImmutableSet.of("image_id", "category_id", "score", outline);
            fields = outline.equals("bbox") ? required : KNOWN;
        }
    }

    private void add(
            long imageId,
            int label,
            double score,
            Optional<Annotation.Bbox> box,
            Optional<Function<Size, Rle>> outline) {
        try {
            if (!required.contains("segmentation")) {
                detections.add(imageId, label, box.orElseThrow(), score);
                return;
            }
            Rle mask = outline.orElseThrow().apply(images.get(imageId));
            if (box.isPresent()) {
                detections.add(imageId, label, box.get(), mask, score);
            } else {
                detections.add(imageId, label, mask, score);
            }
        } catch (SaccadeException e) {
            fail(e.getMessage());
        }
    }

    private void fail(String message) {
        error = error.isEmpty() ? message : error;
    }

    /** Reports that the current value is not {@code what}, and skips it. */
    private void expected(String what, JsonParser parser) throws IOException {
        fail("expected " + what + ", got " + describe(parser));
        parser.skipChildren();
    }

    private static String describe(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == null) {
            return "nothing";
        }
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            default -> Ascii.truncate(parser.getText(), MAX_SHOWN_LENGTH, "...");
        };
    }

    private long integer(String name, JsonParser parser) throws IOException {
        OptionalLong value = Json.integer(parser);
        if (value.isEmpty()) {
            boolean large = parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
            expected(name + " to be an integer" + (large ? " of at most 64 bits" : ""), parser);
        }
        return value.orElse(0);
    }

    /** Returns the image id, given as a number, quoted number or file name. */
    private long imageId(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            return integer("image_id", parser);
        }
        Set<Long> named = imagesByName.get(parser.getText());
        Long number = Longs.tryParse(parser.getText());
        if (named.size() == 1 || (named.isEmpty() && number != null)) {
            return named.isEmpty() ? number : Iterables.getOnlyElement(named);
        }
        fail(
                Text.format(
                        "expected image_id to be an integer or the name of one image, got %s,"
                                + " which names %d images",
                        Ascii.truncate(parser.getText(), MAX_SHOWN_LENGTH, "..."), named.size()));
        return 0;
    }

    private double number(String name, JsonParser parser) throws IOException {
        if (parser.currentToken().isNumeric()) {
            return parser.getDoubleValue();
        }
        expected(name + " to be a number", parser);
        return 0;
    }

    private Optional<Annotation.Bbox> box(JsonParser parser) throws IOException {
        double[] box = numbers("bbox", parser);
        if (box.length != 4) {
            fail("expected bbox to be [x, y, width, height], got " + Arrays.toString(box));
            return Optional.empty();
        }
        return Optional.of(new Annotation.Bbox(box[0], box[1], box[2], box[3]));
    }

    private double[] numbers(String name, JsonParser parser) throws IOException {
        ImmutableDoubleArray.Builder numbers = ImmutableDoubleArray.builder();
        if (isArray(name, parser)) {
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                numbers.add(number(name, parser));
            }
        }
        return numbers.build().toArray();
    }

    private ImmutableIntArray integers(String name, JsonParser parser) throws IOException {
        ImmutableIntArray.Builder integers = ImmutableIntArray.builder();
        if (isArray(name, parser)) {
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                // Clamped values are still larger than any mask.
                integers.add(Ints.saturatedCast(integer(name, parser)));
            }
        }
        return integers.build();
    }

    private boolean isArray(String name, JsonParser parser) throws IOException {
        boolean isArray = parser.currentToken() == JsonToken.START_ARRAY;
        if (!isArray) {
            expected(name + " to be an array", parser);
        }
        return isArray;
    }

    /** Returns the mask as a function of the image size; empty without mask. */
    private Optional<Function<Size, Rle>> outline(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return Optional.empty();
        }
        if (parser.currentToken() == JsonToken.START_ARRAY) {
            List<double[]> rings = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                rings.add(numbers("segmentation", parser));
            }
            return rings.isEmpty()
                    ? Optional.empty()
                    : Optional.of(image -> Rle.fromPolygons(image, rings));
        }
        Rle mask = mask(parser);
        return Optional.of(image -> mask);
    }

    private Rle mask(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            expected("segmentation to be RLE with size and counts, or polygons", parser);
            return NO_MASK;
        }
        ImmutableIntArray sides = ImmutableIntArray.of();
        ImmutableIntArray counts = ImmutableIntArray.of();
        String string = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            boolean isText = parser.nextToken() == JsonToken.VALUE_STRING;
            if (name.equals("size")) {
                sides = integers(name, parser);
            } else if (name.equals("counts") && isText) {
                string = parser.getText();
            } else if (name.equals("counts")) {
                counts = integers(name, parser);
            } else {
                parser.skipChildren();
            }
        }
        if (sides.length() != 2) {
            fail("expected the size of a mask to be [height, width], got " + sides);
            return NO_MASK;
        }
        Size size = new Size(sides.get(0), sides.get(1));
        try {
            return counts.isEmpty()
                    ? Rle.fromString(size, string)
                    : Rle.fromCounts(size, counts.toArray());
        } catch (SaccadeException e) {
            fail(e.getMessage());
            return NO_MASK;
        }
    }
}
