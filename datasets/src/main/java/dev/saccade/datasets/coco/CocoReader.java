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
import dev.saccade.datasets.AnnotationTable.Category;
import dev.saccade.datasets.AnnotationTable.Row;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.JsonShape;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.coco.JsonFields.Fields;

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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a COCO annotation file in one streaming pass. Also reads the rotation of CVAT's boxes, and
 * Roboflow's sources and supercategories.
 */
final class CocoReader {

    private static final List<String> SECTIONS = List.of("images", "annotations", "categories");

    private static final Set<String> IMAGE = Set.of("id", "file_name", "width", "height", "extra");
    private static final Set<String> CATEGORY = Set.of("id", "name", "supercategory");
    private static final Set<String> ANNOTATION =
            Set.of(
                    "id",
                    "image_id",
                    "category_id",
                    "area",
                    "bbox",
                    "iscrowd",
                    "ignore",
                    "segmentation",
                    "attributes",
                    "keypoints",
                    "caption",
                    "segments_info");
    private static final Set<String> RUNS = Set.of("size", "counts");

    private final Path file;
    private final JsonParser parser;
    private final JsonFields json;
    private final Reporter findings;
    private final AnnotationTable.Builder table = new AnnotationTable.Builder();
    private final Set<String> supercategories = new HashSet<>();
    private int rotated;

    private CocoReader(Path file, JsonParser parser, Reporter findings) {
        this.file = file;
        this.parser = parser;
        this.findings = findings;
        json = new JsonFields(file, parser, findings, this::value);
    }

    /**
     * Parses an annotation file; reports missing values and values of the wrong type.
     *
     * @throws SaccadeException if the file is missing or not JSON; names line and column
     */
    static AnnotationTable read(Path file, Reporter findings) {
        if (!Files.exists(file) || Files.isDirectory(file)) {
            throw DataFolder.missingAnnotations(file);
        }
        try (InputStream stream = RegularFile.open(file);
                JsonParser parser = Json.parser(stream)) {
            return read(file, parser, findings);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    private static AnnotationTable read(Path file, JsonParser parser, Reporter findings)
            throws IOException {
        try {
            return new CocoReader(file, parser, findings).read();
        } catch (JsonProcessingException e) {
            JsonLocation location = Json.location(e, parser);
            throw SaccadeException.user(
                    "%s:%d:%d: invalid JSON: %s%s",
                    file,
                    location.getLineNr(),
                    location.getColumnNr(),
                    e.getOriginalMessage(),
                    looksLike(file));
        }
    }

    private static String looksLike(Path file) {
        return LabelFormat.guessNonJson(file).map(name -> "; apparently it is " + name).orElse("");
    }

    private AnnotationTable read() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw notCoco(
                    switch (String.valueOf(parser.currentToken())) {
                        case "START_ARRAY" -> JsonShape.ofList(parser).describe();
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
                case "images" -> json.readArray(section, "image", IMAGE, this::addImage);
                case "annotations" ->
                        json.readArray(section, "annotation", ANNOTATION, this::addAnnotation);
                case "categories" ->
                        json.readArray(section, "category", CATEGORY, this::addCategory);
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
            throw notCoco(shape.describe());
        }
        for (String section : SECTIONS) {
            if (!shape.keys().contains(section)) {
                findings.error(
                        file.toString(),
                        "has no \"%s\"; expected images, annotations and categories",
                        section);
            }
        }
    }

    private SaccadeException notCoco(String got) {
        return SaccadeException.user(
                "%s: expected an object with images, annotations and categories (COCO's format),"
                        + " got %s",
                file, got);
    }

    private Optional<?> value(String key) throws IOException {
        return switch (key) {
            case "id", "image_id", "category_id" -> json.integer();
            case "width", "height" -> json.side();
            case "file_name" -> json.text();
            case "name" -> json.text().map(ClassName::of).filter(name -> !name.isEmpty());
            case "supercategory" -> json.optionalText().map(ClassName::of);
            case "extra" -> json.scalar("name");
            case "attributes" -> json.scalar("rotation");
            case "area" -> json.number();
            case "iscrowd", "ignore" -> json.truth();
            case "bbox" -> readBox();
            case "segmentation" -> readSegmentation();
            case "size" -> json.numbers();
            case "counts" ->
                    parser.isExpectedStartArrayToken()
                            ? json.numbers().map(Segmentation.Runs::compress)
                            : json.text();
            default -> json.present();
        };
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

    private void addAnnotation(Fields annotation) {
        boolean isCaption = annotation.has("caption");
        if (!annotation.isUsable("category_id") && (isCaption || annotation.has("segments_info"))) {
            throw notCoco(
                    Text.format(
                            "annotations with a %s each, apparently COCO %s; expected COCO"
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
        Set<Annotation.Flag> flags = EnumSet.noneOf(Annotation.Flag.class);
        if (annotation.get("iscrowd", false)) {
            flags.add(Annotation.Flag.CROWD);
        }
        if (annotation.get("ignore", false)) {
            flags.add(Annotation.Flag.IGNORE);
        }
        boolean hasOutline = annotation.isUsable("segmentation");
        double area = annotation.get("area", Double.NaN);
        table.addAnnotation(
                annotation.get("image_id", 0L),
                annotation.get("category_id", 0L),
                new Annotation(
                        annotation.get("id", 0L),
                        CocoDataset.NOT_SELECTED,
                        hasOutline ? box : rotated(box, annotation.get("attributes", "")),
                        Double.isNaN(area) ? box.area() : area,
                        annotation.get("segmentation", new Segmentation.None()),
                        flags));
    }

    /** Returns the upright box around a rotated one. Exported outlines are already rotated. */
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
        Optional<double[]> read = json.numbers();
        if (read.isPresent() && read.get().length != 4) {
            json.report(
                    start,
                    "bbox has " + read.get().length + " numbers, expected [x, y, width, height]");
        }
        return read.filter(box -> box.length == 4)
                .map(box -> new Annotation.Bbox(box[0], box[1], box[2], box[3]));
    }

    private Optional<? extends Segmentation> readSegmentation() throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_NULL -> Optional.empty();
            case START_ARRAY -> readPolygons();
            case START_OBJECT -> readRuns();
            default -> json.wrong("polygons or run lengths");
        };
    }

    private Optional<Segmentation.Polygons> readPolygons() throws IOException {
        int problems = json.problems();
        List<double[]> rings = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.isExpectedStartArrayToken()) {
                json.numbers().ifPresent(rings::add);
            } else if (json.problems() == problems) {
                json.wrong("a list of polygons");
            } else {
                parser.skipChildren();
            }
        }
        return rings.isEmpty() || json.problems() > problems
                ? Optional.empty()
                : Optional.of(new Segmentation.Polygons(rings));
    }

    private Optional<Segmentation.Runs> readRuns() throws IOException {
        int problems = json.problems();
        Fields runs = json.object(RUNS);
        if (json.problems() > problems) {
            return Optional.empty();
        }
        double[] edges = runs.get("size", new double[0]);
        Size size = edges.length == 2 ? new Size((int) edges[0], (int) edges[1]) : new Size(0, 0);
        String counts = runs.get("counts", "");
        if (size.area() == 0 || counts.isEmpty()) {
            json.report(runs.start(), "run lengths need a valid size and counts");
            return Optional.empty();
        }
        return Optional.of(new Segmentation.Runs(size, counts));
    }

    private void warn(AnnotationTable built) {
        String place = file.toString();
        if (rotated > 0) {
            findings.warning(
                    place,
                    "%s with attributes.rotation; using the upright boxes around the rotated ones",
                    Count.of(rotated, "bbox"));
        }
        Set<Long> used =
                built.annotations().stream().map(Row::categoryId).collect(Collectors.toSet());
        for (Category category : built.categories()) {
            if (supercategories.contains(category.name()) && !used.contains(category.id())) {
                findings.warningAt(
                        place,
                        "category " + category.id(),
                        "\"%s\" has no objects and is the supercategory of other categories;"
                                + " remove it from categories, otherwise the model gets a"
                                + " class without objects",
                        category.name());
            }
        }
    }
}
