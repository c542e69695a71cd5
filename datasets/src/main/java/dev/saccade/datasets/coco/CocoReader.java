package dev.saccade.datasets.coco;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.primitives.Ints;

import dev.saccade.core.Json;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.JsonShape;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.labels.ClassName;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a COCO annotation file in one streaming pass.
 *
 * <p>Values of the wrong kind are findings, and reading goes on; only text that is no JSON stops
 * it.
 */
final class CocoReader {

    private static final List<String> SECTIONS = List.of("images", "annotations", "categories");

    private final Path file;
    private final JsonParser parser;
    private final Consumer<Finding> findings;
    private final AnnotationTable.Builder table = new AnnotationTable.Builder();
    private final CocoExtras extras = new CocoExtras();
    private double[] numbers = new double[64];

    /** Problems of the current element, kept until its id is known. */
    private final List<Problem> pending = new ArrayList<>();

    private record Problem(JsonLocation location, String message) {}

    private CocoReader(Path file, JsonParser parser, Consumer<Finding> findings) {
        this.file = file;
        this.parser = parser;
        this.findings = findings;
    }

    /**
     * Returns the content of an annotation file.
     *
     * @param findings told of every value that is missing or of the wrong kind
     * @throws SaccadeException if there is no such file, or it is no JSON; names line and column
     */
    static AnnotationTable read(Path file, Consumer<Finding> findings) {
        if (!Files.exists(file) || Files.isDirectory(file)) {
            throw DataFolder.noAnnotations(file);
        }
        try (InputStream stream = RegularFile.open(file);
                JsonParser parser = Json.parser(stream)) {
            return new CocoReader(file, parser, findings).read();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    private static String looksLike(Path file) {
        return LabelFormat.guessNoJson(file).map(name -> "; it looks like " + name).orElse("");
    }

    private AnnotationTable read() throws IOException {
        try {
            return readFile();
        } catch (JsonProcessingException e) {
            JsonLocation location = Json.place(e, parser);
            throw SaccadeException.user(
                    "%s:%d:%d: no valid JSON: %s%s",
                    file,
                    location.getLineNr(),
                    location.getColumnNr(),
                    e.getOriginalMessage(),
                    looksLike(file));
        }
    }

    private AnnotationTable readFile() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw noCoco(
                    switch (String.valueOf(parser.currentToken())) {
                        case "START_ARRAY" -> JsonShape.ofList(parser).told();
                        case "null" -> "nothing";
                        default -> parser.getText() + looksLike(file);
                    });
        }
        Set<String> sections = new LinkedHashSet<>();
        Set<String> inner = Set.of();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String section = parser.currentName();
            parser.nextToken();
            if (!sections.add(section)) {
                report(
                        parser.currentTokenLocation(),
                        Text.format("\"%s\" occurs twice; expected once", section));
            }
            switch (section) {
                case "images" -> readArray(section, "image", this::readImage);
                case "annotations" -> readArray(section, "annotation", this::readAnnotation);
                case "categories" -> readArray(section, "category", this::readCategory);
                default -> {
                    if (inner.isEmpty() && parser.isExpectedStartObjectToken()) {
                        inner = JsonShape.keysOf(parser);
                    } else {
                        parser.skipChildren();
                    }
                }
            }
        }
        requireSections(new JsonShape(false, sections, inner));
        if (parser.nextToken() != null) {
            wrong("the end of the file");
        }
        flush("");
        AnnotationTable built = table.build();
        extras.warn(built, file.toString(), findings);
        return built;
    }

    private void requireSections(JsonShape file) {
        if (file.format().isPresent() || Collections.disjoint(file.keys(), SECTIONS)) {
            throw noCoco(file.told());
        }
        for (String section : SECTIONS) {
            if (!file.keys().contains(section)) {
                findings.accept(
                        Finding.error(
                                this.file.toString(),
                                "",
                                Text.format(
                                        "has no \"%s\"; expected images, annotations and categories",
                                        section)));
            }
        }
    }

    private SaccadeException noCoco(String got) {
        return SaccadeException.user(
                "%s: a COCO file is an object with images, annotations and categories, got %s",
                file, got);
    }

    /** Reads an element and returns its id. */
    private interface ElementReader {
        OptionalLong read() throws IOException;
    }

    private void readArray(String section, String kind, ElementReader element) throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            wrong("\"" + section + "\" to be an array");
            return;
        }
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
            if (parser.isExpectedStartObjectToken()) {
                OptionalLong id = element.read();
                flush(id.isPresent() ? kind + " " + id.getAsLong() : section + "[" + i + "]");
            } else {
                wrong("an object in \"" + section + "\"");
            }
        }
        flush("");
    }

    private OptionalLong readImage() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        OptionalLong id = OptionalLong.empty();
        String name = "";
        String source = "";
        int width = 0;
        int height = 0;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            switch (key) {
                case "id" -> id = integer();
                case "file_name" -> name = text();
                case "width" -> width = side();
                case "height" -> height = side();
                case "extra" -> source = CocoExtras.text(parser, "name");
                default -> parser.skipChildren();
            }
        }
        if (id.isEmpty() || name.isEmpty() || width <= 0 || height <= 0) {
            reportMissing(
                    start,
                    ImmutableMap.of(
                            "id",
                            id.isPresent(),
                            "file_name",
                            !name.isEmpty(),
                            "width",
                            width > 0,
                            "height",
                            height > 0));
            return id;
        }
        table.addImage(id.getAsLong(), name, new Size(height, width), source);
        return id;
    }

    private OptionalLong readCategory() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        OptionalLong id = OptionalLong.empty();
        String name = "";
        String above = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            switch (key) {
                case "id" -> id = integer();
                case "name" -> name = ClassName.of(text());
                case "supercategory" -> above = ClassName.of(CocoExtras.text(parser));
                default -> parser.skipChildren();
            }
        }
        if (id.isEmpty() || name.isEmpty()) {
            reportMissing(start, ImmutableMap.of("id", id.isPresent(), "name", !name.isEmpty()));
            return id;
        }
        table.addCategory(id.getAsLong(), name);
        extras.addSupercategory(name, above);
        return id;
    }

    private OptionalLong readAnnotation() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        OptionalLong id = OptionalLong.empty();
        OptionalLong imageId = OptionalLong.empty();
        OptionalLong categoryId = OptionalLong.empty();
        double area = Double.NaN;
        Optional<Annotation.Bbox> box = Optional.empty();
        Set<Annotation.Mark> marks = EnumSet.noneOf(Annotation.Mark.class);
        Segmentation segmentation = new Segmentation.None();
        double rotation = 0;
        String other = "";
        Set<String> keys = new HashSet<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            keys.add(key);
            switch (key) {
                case "id" -> id = integer();
                case "image_id" -> imageId = integer();
                case "category_id" -> categoryId = integer();
                case "area" -> area = number();
                case "bbox" -> box = readBox();
                case "iscrowd" -> readMark(Annotation.Mark.CROWD, marks);
                case "ignore" -> readMark(Annotation.Mark.IGNORE, marks);
                case "segmentation" -> segmentation = readSegmentation();
                case "attributes" -> rotation = CocoExtras.rotation(parser);
                case "caption", "segments_info" -> {
                    other = key;
                    parser.skipChildren();
                }
                default -> parser.skipChildren();
            }
        }
        if (categoryId.isEmpty() && !other.isEmpty()) {
            throw noCoco(
                    Text.format(
                            "annotations with a %s each: it looks like COCO's %s; expected its instances",
                            other, other.equals("caption") ? "captions" : "panoptic labels"));
        }
        if (!keys.contains("bbox")) {
            report(start, noBox(keys));
        }
        if (id.isEmpty() || imageId.isEmpty() || categoryId.isEmpty() || box.isEmpty()) {
            reportMissing(
                    start,
                    ImmutableMap.of(
                            "id", id.isPresent(),
                            "image_id", imageId.isPresent(),
                            "category_id", categoryId.isPresent()));
            return id;
        }
        double pixels = Double.isNaN(area) ? box.get().area() : area;
        table.addAnnotation(
                imageId.getAsLong(),
                categoryId.getAsLong(),
                new Annotation(
                        id.getAsLong(),
                        CocoDataset.UNWANTED,
                        extras.rotated(box.get(), rotation, segmentation),
                        pixels,
                        segmentation,
                        marks));
        return id;
    }

    private static String noBox(Set<String> keys) {
        String around =
                Stream.of("segmentation", "keypoints")
                        .filter(keys::contains)
                        .findFirst()
                        .map(key -> " around its " + key)
                        .orElse("");
        return "has no bbox; expected [x, y, width, height]" + around;
    }

    private void readMark(Annotation.Mark mark, Set<Annotation.Mark> marks) throws IOException {
        if (truthy()) {
            marks.add(mark);
        }
    }

    private Optional<Annotation.Bbox> readBox() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        int problems = pending.size();
        Optional<double[]> read = readNumbers();
        if (read.isPresent() && read.get().length != 4) {
            report(
                    start,
                    "bbox has " + read.get().length + " numbers, expected [x, y, width, height]");
        }
        return read.filter(box -> pending.size() == problems)
                .map(box -> new Annotation.Bbox(box[0], box[1], box[2], box[3]));
    }

    private Segmentation readSegmentation() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_NULL -> new Segmentation.None();
            case START_ARRAY -> readPolygons();
            case START_OBJECT -> readRuns();
            default -> {
                wrong("polygons or run lengths");
                yield new Segmentation.None();
            }
        };
    }

    private Segmentation readPolygons() throws IOException {
        if (parser.nextToken() == JsonToken.END_ARRAY) {
            return new Segmentation.None();
        }
        if (!parser.isExpectedStartArrayToken()) {
            wrong("a list of polygons");
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                parser.skipChildren();
            }
            return new Segmentation.None();
        }
        int problems = pending.size();
        List<double[]> rings = new ArrayList<>();
        for (; parser.currentToken() != JsonToken.END_ARRAY; parser.nextToken()) {
            readNumbers().ifPresent(rings::add);
        }
        return pending.size() == problems
                ? new Segmentation.Polygons(rings)
                : new Segmentation.None();
    }

    private Segmentation readRuns() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        Size size = new Size(0, 0);
        String counts = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            if (key.equals("size")) {
                Optional<double[]> edges = readNumbers().filter(n -> n.length == 2);
                size = edges.map(n -> new Size((int) n[0], (int) n[1])).orElse(size);
            } else if (key.equals("counts") && parser.isExpectedStartArrayToken()) {
                counts = readNumbers().map(Segmentation.Runs::compress).orElseThrow();
            } else if (key.equals("counts")) {
                counts = text();
            } else {
                parser.skipChildren();
            }
        }
        if (size.area() == 0 || counts.isEmpty()) {
            report(start, "run lengths lack a usable size or counts");
            return new Segmentation.None();
        }
        return new Segmentation.Runs(size, counts);
    }

    /** Reads an array of numbers; nothing if it is none. */
    private Optional<double[]> readNumbers() throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            wrong("an array of numbers");
            return Optional.empty();
        }
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            numbers[count++] = number();
        }
        return Optional.of(Arrays.copyOf(numbers, count));
    }

    private double number() throws IOException {
        if (!parser.currentToken().isNumeric()) {
            wrong("a number");
            return Double.NaN;
        }
        return parser.getDoubleValue();
    }

    private OptionalLong integer() throws IOException {
        OptionalLong value = Json.integer(parser);
        if (value.isEmpty()) {
            boolean large = parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
            wrong(large ? "an integer of at most 64 bits" : "an integer");
        }
        return value;
    }

    /** Returns a side in pixels, 0 if it is none; clamped, it is still too large for any image. */
    private int side() throws IOException {
        return Ints.saturatedCast(integer().orElse(0));
    }

    private boolean truthy() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE, VALUE_NULL -> false;
            default -> number() != 0;
        };
    }

    private String text() throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            wrong("a string");
            return "";
        }
        return parser.getText();
    }

    private void wrong(String expected) throws IOException {
        String got = parser.getText();
        boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
        report(
                parser.currentTokenLocation(),
                Text.format(
                        "%sexpected %s, got %s", key(), expected, isText ? '"' + got + '"' : got));
        parser.skipChildren();
    }

    /** Returns the path of the current value in its element, such as {@code bbox[2]: }. */
    private String key() {
        String pointer = parser.getParsingContext().pathAsPointer().toString();
        String path =
                Splitter.on('/')
                        .splitToStream(pointer)
                        .skip(3)
                        .map(step -> step.matches("\\d+") ? "[" + step + "]" : "." + step)
                        .collect(Collectors.joining());
        return path.isEmpty() ? "" : path.substring(1) + ": ";
    }

    /** Reports the keys that are missing or unusable, unless a problem explains it already. */
    private void reportMissing(JsonLocation start, Map<String, Boolean> present) {
        if (pending.isEmpty()) {
            String missing = Joiner.on(", ").join(Maps.filterValues(present, is -> !is).keySet());
            report(start, "lacks a usable " + missing);
        }
    }

    private void report(JsonLocation location, String message) {
        pending.add(new Problem(location, message));
    }

    /** Reports the problems of an element. */
    private void flush(String subject) {
        for (Problem problem : pending) {
            JsonLocation at = problem.location;
            String place = file + ":" + at.getLineNr() + ":" + at.getColumnNr();
            findings.accept(Finding.error(place, subject, problem.message));
        }
        pending.clear();
    }
}
