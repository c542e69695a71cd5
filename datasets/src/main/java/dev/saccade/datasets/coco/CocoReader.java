package dev.saccade.datasets.coco;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
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

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

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
    private double[] numbers = new double[64];

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
                case "images" -> readArray(section, this::readImage);
                case "annotations" -> readArray(section, this::readAnnotation);
                case "categories" -> readArray(section, this::readCategory);
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
        return table.build();
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

    private interface ElementReader {
        void read() throws IOException;
    }

    private void readArray(String section, ElementReader element) throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            wrong("\"" + section + "\" to be an array");
            return;
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.isExpectedStartObjectToken()) {
                element.read();
            } else {
                wrong("an object in \"" + section + "\"");
            }
        }
    }

    private void readImage() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        OptionalLong id = OptionalLong.empty();
        String name = "";
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
                default -> parser.skipChildren();
            }
        }
        if (id.isEmpty() || name.isEmpty() || width <= 0 || height <= 0) {
            report(start, "image lacks a usable id, file_name, width or height");
            return;
        }
        table.addImage(id.getAsLong(), name, new Size(height, width));
    }

    private void readCategory() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        OptionalLong id = OptionalLong.empty();
        String name = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            switch (key) {
                case "id" -> id = integer();
                case "name" -> name = text();
                default -> parser.skipChildren();
            }
        }
        if (id.isEmpty() || name.isEmpty()) {
            report(start, "category lacks a usable id or name");
            return;
        }
        table.addCategory(id.getAsLong(), name);
    }

    private void readAnnotation() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        OptionalLong id = OptionalLong.empty();
        OptionalLong imageId = OptionalLong.empty();
        OptionalLong categoryId = OptionalLong.empty();
        double area = Double.NaN;
        Annotation.Bbox box = Annotation.Bbox.NONE;
        Set<Annotation.Mark> marks = EnumSet.noneOf(Annotation.Mark.class);
        Segmentation segmentation = new Segmentation.None();
        String other = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            switch (key) {
                case "id" -> id = integer();
                case "image_id" -> imageId = integer();
                case "category_id" -> categoryId = integer();
                case "area" -> area = number();
                case "bbox" -> box = readBox().orElse(box);
                case "iscrowd" -> readMark(Annotation.Mark.CROWD, marks);
                case "ignore" -> readMark(Annotation.Mark.IGNORE, marks);
                case "segmentation" -> segmentation = readSegmentation();
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
        if (id.isEmpty() || imageId.isEmpty() || categoryId.isEmpty()) {
            report(start, "annotation lacks a usable id, image_id or category_id");
            return;
        }
        double pixels = Double.isNaN(area) ? box.area() : area;
        table.addAnnotation(
                imageId.getAsLong(),
                categoryId.getAsLong(),
                new Annotation(
                        id.getAsLong(), CocoDataset.UNWANTED, box, pixels, segmentation, marks));
    }

    private void readMark(Annotation.Mark mark, Set<Annotation.Mark> marks) throws IOException {
        if (truthy()) {
            marks.add(mark);
        }
    }

    private Optional<Annotation.Bbox> readBox() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        Optional<double[]> read = readNumbers("bbox");
        if (read.isPresent() && read.get().length != 4) {
            report(
                    start,
                    "bbox has " + read.get().length + " numbers, expected [x, y, width, height]");
        }
        return read.filter(box -> box.length == 4)
                .map(box -> new Annotation.Bbox(box[0], box[1], box[2], box[3]));
    }

    private Segmentation readSegmentation() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_NULL -> new Segmentation.None();
            case START_ARRAY -> readPolygons();
            case START_OBJECT -> readRuns();
            default -> {
                wrong("segmentation to be polygons or run lengths");
                yield new Segmentation.None();
            }
        };
    }

    private Segmentation readPolygons() throws IOException {
        if (parser.nextToken() == JsonToken.END_ARRAY) {
            return new Segmentation.None();
        }
        if (!parser.isExpectedStartArrayToken()) {
            wrong("segmentation to be a list of polygons");
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                parser.skipChildren();
            }
            return new Segmentation.None();
        }
        List<double[]> rings = new ArrayList<>();
        for (; parser.currentToken() != JsonToken.END_ARRAY; parser.nextToken()) {
            readNumbers("polygon").ifPresent(rings::add);
        }
        return new Segmentation.Polygons(rings);
    }

    private Segmentation readRuns() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        Size size = new Size(0, 0);
        String counts = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            if (key.equals("size")) {
                Optional<double[]> edges = readNumbers("size").filter(n -> n.length == 2);
                size = edges.map(n -> new Size((int) n[0], (int) n[1])).orElse(size);
            } else if (key.equals("counts") && parser.isExpectedStartArrayToken()) {
                counts = readNumbers("counts").map(Segmentation.Runs::compress).orElseThrow();
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
    private Optional<double[]> readNumbers(String what) throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            wrong(what + " to be an array of numbers");
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
                Text.format("expected %s, got %s", expected, isText ? '"' + got + '"' : got));
        parser.skipChildren();
    }

    private void report(JsonLocation location, String message) {
        String place = file + ":" + location.getLineNr() + ":" + location.getColumnNr();
        findings.accept(Finding.error(place, "", message));
    }
}
