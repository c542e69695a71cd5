package dev.saccade.datasets.coco;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.primitives.Doubles;

import dev.saccade.core.Count;
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
import dev.saccade.datasets.coco.JsonFields.Fields;
import dev.saccade.datasets.coco.JsonFields.ValueReader;
import dev.saccade.datasets.labels.ClassName;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Reads a COCO annotation file in one streaming pass. Also reads the rotation of CVAT's boxes, and
 * Roboflow's sources and supercategories.
 */
final class CocoReader {

    private static final List<String> SECTIONS = List.of("images", "annotations", "categories");

    private final Path file;
    private final JsonParser parser;
    private final JsonFields json;
    private final Consumer<Finding> findings;
    private final AnnotationTable.Builder table = new AnnotationTable.Builder();
    private final Set<String> supercategories = new HashSet<>();
    private int rotated;

    private CocoReader(Path file, JsonParser parser, Consumer<Finding> findings) {
        this.file = file;
        this.parser = parser;
        this.findings = findings;
        json = new JsonFields(file, parser, findings);
    }

    /**
     * Returns the content of an annotation file.
     *
     * @param findings receives each value that is missing or of the wrong kind
     * @throws SaccadeException if there is no such file, or it is not JSON; names line and column
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
                json.report(
                        parser.currentTokenLocation(),
                        Text.format("\"%s\" occurs twice; expected once", section));
            }
            switch (section) {
                case "images" -> json.readArray(section, "image", imageKeys(), this::addImage);
                case "annotations" ->
                        json.readArray(
                                section, "annotation", annotationKeys(), this::addAnnotation);
                case "categories" ->
                        json.readArray(section, "category", categoryKeys(), this::addCategory);
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
            json.wrong("the end of the file");
        }
        json.flush("");
        AnnotationTable built = table.build();
        warn(built);
        return built;
    }

    private void requireSections(JsonShape shape) {
        if (shape.format().isPresent() || Collections.disjoint(shape.keys(), SECTIONS)) {
            throw noCoco(shape.told());
        }
        SECTIONS.stream()
                .filter(section -> !shape.keys().contains(section))
                .map(
                        section ->
                                Text.format(
                                        "has no \"%s\"; expected images, annotations and categories",
                                        section))
                .forEach(fault -> findings.accept(Finding.error(file.toString(), "", fault)));
    }

    private SaccadeException noCoco(String got) {
        return SaccadeException.user(
                "%s: a COCO file is an object with images, annotations and categories, got %s",
                file, got);
    }

    private Map<String, ValueReader> imageKeys() {
        return Map.of(
                "id", json::integer,
                "file_name", json::text,
                "width", json::side,
                "height", json::side,
                "extra", json.scalarOf("name"));
    }

    private void addImage(Fields image) {
        if (json.requireUsable(image, "id", "file_name", "width", "height")) {
            table.addImage(
                    image.get("id", 0L),
                    image.get("file_name", ""),
                    new Size(image.get("height", 0), image.get("width", 0)),
                    image.get("extra", ""));
        }
    }

    private Map<String, ValueReader> categoryKeys() {
        return Map.of(
                "id", json::integer,
                "name", () -> json.text().map(ClassName::of).filter(name -> !name.isEmpty()),
                "supercategory", () -> json.optionalText().map(ClassName::of));
    }

    private void addCategory(Fields category) {
        if (json.requireUsable(category, "id", "name")) {
            String name = category.get("name", "");
            String above = category.get("supercategory", "");
            table.addCategory(category.get("id", 0L), name);
            if (!above.equals(name)) {
                supercategories.add(above);
            }
        }
    }

    private Map<String, ValueReader> annotationKeys() {
        return Map.ofEntries(
                Map.entry("id", json::integer),
                Map.entry("image_id", json::integer),
                Map.entry("category_id", json::integer),
                Map.entry("area", json::number),
                Map.entry("bbox", this::readBox),
                Map.entry("iscrowd", json::truth),
                Map.entry("ignore", json::truth),
                Map.entry("segmentation", this::readSegmentation),
                Map.entry("attributes", json.scalarOf("rotation")),
                Map.entry("keypoints", json::present),
                Map.entry("caption", json::present),
                Map.entry("segments_info", json::present));
    }

    private void addAnnotation(Fields annotation) {
        boolean isCaption = annotation.has("caption");
        if (!annotation.isUsable("category_id") && (isCaption || annotation.has("segments_info"))) {
            throw noCoco(
                    Text.format(
                            "annotations with a %s each: it looks like COCO's %s; expected its"
                                    + " instances",
                            isCaption ? "caption" : "segments_info",
                            isCaption ? "captions" : "panoptic labels"));
        }
        if (!annotation.has("bbox")) {
            String around =
                    Stream.of("segmentation", "keypoints")
                            .filter(annotation::has)
                            .findFirst()
                            .map(key -> " around its " + key)
                            .orElse("");
            json.report(annotation.start(), "has no bbox; expected [x, y, width, height]" + around);
        }
        if (!json.requireUsable(annotation, "id", "image_id", "category_id", "bbox")) {
            return;
        }
        Annotation.Bbox box = annotation.get("bbox", Annotation.Bbox.NONE);
        Segmentation outline = annotation.get("segmentation", new Segmentation.None());
        Set<Annotation.Mark> marks = EnumSet.noneOf(Annotation.Mark.class);
        if (annotation.get("iscrowd", false)) {
            marks.add(Annotation.Mark.CROWD);
        }
        if (annotation.get("ignore", false)) {
            marks.add(Annotation.Mark.IGNORE);
        }
        table.addAnnotation(
                annotation.get("image_id", 0L),
                annotation.get("category_id", 0L),
                new Annotation(
                        annotation.get("id", 0L),
                        CocoDataset.UNWANTED,
                        outline instanceof Segmentation.None
                                ? rotated(box, annotation.get("attributes", ""))
                                : box,
                        annotation.get("area", box.area()),
                        outline,
                        marks));
    }

    /** Returns the upright box around a rotated one. Outlines are exported with their rotation. */
    private Annotation.Bbox rotated(Annotation.Bbox box, String rotation) {
        Double degrees = Doubles.tryParse(rotation);
        if (degrees == null || !Double.isFinite(degrees) || degrees % 180 == 0) {
            return box;
        }
        rotated++;
        return box.rotated(degrees);
    }

    private Optional<Annotation.Bbox> readBox() throws IOException {
        JsonLocation start = parser.currentTokenLocation();
        int problems = json.problems();
        Optional<double[]> read = json.numbers();
        if (read.isPresent() && read.get().length != 4) {
            json.report(
                    start,
                    "bbox has " + read.get().length + " numbers, expected [x, y, width, height]");
        }
        return read.filter(box -> json.problems() == problems)
                .map(box -> new Annotation.Bbox(box[0], box[1], box[2], box[3]));
    }

    private Optional<Segmentation> readSegmentation() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_NULL -> Optional.empty();
            case START_ARRAY -> readPolygons();
            case START_OBJECT -> readRuns();
            default -> json.wrong("polygons or run lengths");
        };
    }

    private Optional<Segmentation> readPolygons() throws IOException {
        if (parser.nextToken() == JsonToken.END_ARRAY) {
            return Optional.empty();
        }
        if (!parser.isExpectedStartArrayToken()) {
            json.wrong("a list of polygons");
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                parser.skipChildren();
            }
            return Optional.empty();
        }
        int problems = json.problems();
        List<double[]> rings = new ArrayList<>();
        for (; parser.currentToken() != JsonToken.END_ARRAY; parser.nextToken()) {
            json.numbers().ifPresent(rings::add);
        }
        return json.problems() == problems
                ? Optional.of(new Segmentation.Polygons(rings))
                : Optional.empty();
    }

    private Optional<Segmentation> readRuns() throws IOException {
        Fields runs = json.object(Map.of("size", json::numbers, "counts", this::readCounts));
        double[] edges = runs.get("size", new double[0]);
        Size size = edges.length == 2 ? new Size((int) edges[0], (int) edges[1]) : new Size(0, 0);
        String counts = runs.get("counts", "");
        if (size.area() == 0 || counts.isEmpty()) {
            json.report(runs.start(), "run lengths lack a usable size or counts");
            return Optional.empty();
        }
        return Optional.of(new Segmentation.Runs(size, counts));
    }

    private Optional<String> readCounts() throws IOException {
        return parser.isExpectedStartArrayToken()
                ? json.numbers().map(Segmentation.Runs::compress)
                : json.text();
    }

    /** Warns about rotated boxes, and supercategories without objects. */
    private void warn(AnnotationTable built) {
        if (rotated > 0) {
            findings.accept(
                    Finding.warning(
                            file.toString(),
                            "",
                            Count.of(rotated, "bbox")
                                    + " with attributes.rotation; read as the upright boxes around"
                                    + " the rotated ones"));
        }
        Set<Long> used = new HashSet<>(built.annotationCategoryIds().asList());
        for (int i = 0; i < built.categoryNames().size(); i++) {
            String name = built.categoryNames().get(i);
            long id = built.categoryIds().get(i);
            if (supercategories.contains(name) && !used.contains(id)) {
                findings.accept(
                        Finding.warning(
                                file.toString(),
                                "category " + id,
                                Text.format(
                                        "\"%s\" has no objects and is the supercategory of others;"
                                                + " remove it from categories, or a class is trained"
                                                + " that never occurs",
                                        name)));
            }
        }
    }
}
