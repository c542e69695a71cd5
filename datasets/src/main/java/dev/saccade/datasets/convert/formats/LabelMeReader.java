package dev.saccade.datasets.convert.formats;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.Json;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.Hole;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * LabelMe: one JSON file per image with a list of shapes in pixels of the upright image.
 *
 * <p>Circles become the polygons of labelme's own converter. A {@code _background_} is a hole in
 * the shapes before it. Shapes of the same label and {@code group_id} are parts of one object. The
 * image is the file in {@code imagePath}, the image with the name of the label file, or the copy in
 * {@code imageData}, in this order.
 */
final class LabelMeReader implements LabelReader {

    private static final int MAX_NUMBERS = 1_000_000;
    private static final String BACKGROUND = "_background_";
    private static final String IGNORED = "__ignore__";
    private static final Set<String> NO_OBJECTS = Set.of("point", "points", "line", "linestrip");

    @Override
    public SourceLabels read(ConversionContext context) {
        SourceFolder folder = context.folder();
        List<ParsedImage> images =
                context.inParallel(folder.ending(".json"), file -> read(folder, file)).stream()
                        .flatMap(Optional::stream)
                        .toList();
        Set<String> labeled = images.stream().map(ParsedImage::image).collect(Collectors.toSet());
        context.reportUnlabeled(folder.images(), labeled, "a label file");
        Optional<List<String>> classes = context.classNames("labels.txt", "classes.txt");
        return LabelBuilder.build(context, classes, images, Map.of());
    }

    private static Optional<ParsedImage> read(SourceFolder folder, String file) {
        Optional<String> format = LabelFormat.guess(folder.path(file));
        return format.isEmpty() || format.get().equals("LabelMe")
                ? Optional.of(new File(folder, file).read())
                : Optional.empty();
    }

    @SuppressWarnings("ArrayRecordComponent")
    private record Shape(String place, String label, String type, String group, double[] points) {}

    private static final class File {

        private final SourceFolder folder;
        private final String file;
        private final ParsedImage parsed;
        private String imagePath = "";
        private boolean hasData;
        private boolean hasShapes;
        private int width;
        private int height;

        File(SourceFolder folder, String file) {
            this.folder = folder;
            this.file = file;
            this.parsed = new ParsedImage(folder.path(file).toString());
        }

        ParsedImage read() {
            parsed.attempt(parsed.place(), this::parse);
            parsed.declare(width, height);
            parsed.setSplit(Split.ofPath(file));
            image().ifPresent(image -> parsed.setImage(image, image));
            if (parsed.image().isEmpty() && hasData && SourceFolder.isImage(imagePath)) {
                String suffix = imagePath.substring(imagePath.lastIndexOf('.'));
                parsed.setImage(SourceFolder.stem(file) + suffix, file);
            } else if (parsed.image().isEmpty()) {
                parsed.fault(
                        "image %s does not exist%s",
                        imagePath,
                        hasData
                                ? "; imageData is only read if imagePath has an image suffix"
                                : ", and imageData is missing");
            }
            return parsed.limitFindings();
        }

        private Optional<String> image() {
            Optional<String> named =
                    imagePath.isEmpty()
                            ? Optional.empty()
                            : folder.find(SourceFolder.parent(file), imagePath);
            if (named.isPresent()) {
                return named;
            }
            List<String> same = folder.imagesOf(SourceFolder.stem(file));
            if (same.size() > 1) {
                parsed.fault(
                        "may belong to %s; set imagePath to one of them",
                        String.join(" or ", same));
            }
            return SourceFolder.only(same);
        }

        private void parse() {
            try (InputStream stream = RegularFile.open(folder.path(file));
                    JsonParser json = Json.parser(stream)) {
                try {
                    readFile(json);
                } catch (JsonProcessingException e) {
                    JsonLocation at = Json.location(e, json);
                    throw SaccadeException.user(
                            "%s:%d:%d: invalid JSON: %s",
                            parsed.place(),
                            at.getLineNr(),
                            at.getColumnNr(),
                            e.getOriginalMessage());
                }
            } catch (IOException e) {
                throw SaccadeException.io(
                        e, "%s: cannot be read: %s", parsed.place(), e.getMessage());
            }
            if (!hasShapes) {
                parsed.fault("has no shapes; expected a LabelMe file");
            }
        }

        private void readFile(JsonParser json) throws IOException {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw SaccadeException.user("%s: expected an object with shapes", parsed.place());
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                JsonToken value = json.nextToken();
                switch (key) {
                    case "imagePath" ->
                            imagePath = value == JsonToken.VALUE_STRING ? json.getText() : "";
                    case "imageData" -> hasData = value == JsonToken.VALUE_STRING;
                    case "imageWidth" -> width = Ints.saturatedCast(Json.integer(json).orElse(0));
                    case "imageHeight" -> height = Ints.saturatedCast(Json.integer(json).orElse(0));
                    case "shapes" -> readShapes(json);
                    default -> {}
                }
                json.skipChildren();
            }
        }

        private String at(JsonParser json) {
            return parsed.place() + ":" + json.currentTokenLocation().getLineNr();
        }

        private void readShapes(JsonParser json) throws IOException {
            hasShapes = true;
            if (!json.isExpectedStartArrayToken()) {
                parsed.error(at(json), "shapes: expected a list");
                return;
            }
            while (json.nextToken() != JsonToken.END_ARRAY) {
                if (json.currentToken() == JsonToken.START_OBJECT) {
                    Shape shape = readShape(json);
                    parsed.attempt(shape.place, () -> add(shape));
                } else {
                    parsed.error(at(json), "expected a shape");
                    json.skipChildren();
                }
            }
        }

        private Shape readShape(JsonParser json) throws IOException {
            String shapePlace = at(json);
            String label = "";
            String type = "polygon";
            String group = "";
            double[] points = {};
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                json.nextToken();
                switch (key) {
                    case "label" -> label = text(json);
                    case "shape_type" -> type = text(json);
                    case "group_id" ->
                            group = json.currentToken() == JsonToken.VALUE_NULL ? "" : text(json);
                    case "points" -> points = readPoints(json);
                    default -> json.skipChildren();
                }
            }
            return new Shape(shapePlace, label, type, group, points);
        }

        private static String text(JsonParser json) throws IOException {
            json.skipChildren();
            return json.currentToken().isScalarValue() ? json.getText() : "";
        }

        /** Reads {@code [[x, y], ...]}; other values become NaN, which is reported. */
        private static double[] readPoints(JsonParser json) throws IOException {
            List<Double> numbers = new ArrayList<>();
            int depth = 0;
            do {
                switch (json.currentToken()) {
                    case START_ARRAY, START_OBJECT -> depth++;
                    case END_ARRAY, END_OBJECT -> depth--;
                    case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> numbers.add(json.getDoubleValue());
                    case FIELD_NAME -> {}
                    default -> numbers.add(Double.NaN);
                }
            } while (depth > 0 && numbers.size() < MAX_NUMBERS && json.nextToken() != null);
            return Doubles.toArray(numbers);
        }

        private void add(Shape shape) {
            if (shape.label.equals(IGNORED)) {
                parsed.warning(
                        shape.place,
                        "%s is skipped; detections in that area count as false positives",
                        IGNORED);
            } else if (shape.label.isEmpty()) {
                throw SaccadeException.user("shape has no label");
            } else if (!Doubles.asList(shape.points).stream().allMatch(Double::isFinite)) {
                throw SaccadeException.user("points: expected pairs of numbers");
            } else if (NO_OBJECTS.contains(shape.type)) {
                parsed.warning(shape.place, "a %s is not an object; skipped", shape.type);
            } else if (shape.label.equals(BACKGROUND)) {
                cut(shape.place, outline(shape));
            } else {
                List<Outline> outlines = List.of(outline(shape));
                parsed.objects()
                        .add(
                                new ParsedObject(
                                        shape.place, shape.label, shape.group, outlines, false));
            }
        }

        private static Outline outline(Shape shape) {
            double[] p = shape.points;
            switch (shape.type) {
                case "polygon", "rotation" -> {
                    return new Outline.Ring(p);
                }
                case "rectangle" -> {
                    // Newer versions write all four corners.
                    if (p.length != 4 && p.length != 8) {
                        throw SaccadeException.user(
                                "got a rectangle of %d numbers, expected two opposite corners",
                                p.length);
                    }
                    double x = p[p.length / 2];
                    double y = p[p.length / 2 + 1];
                    return new Outline.Box(
                            Math.min(p[0], x),
                            Math.min(p[1], y),
                            Math.max(p[0], x),
                            Math.max(p[1], y));
                }
                case "circle" -> {
                    if (p.length != 4) {
                        throw SaccadeException.user(
                                "got a circle of %d numbers, expected its center and a point on it",
                                p.length);
                    }
                    double radius = Math.hypot(p[2] - p[0], p[3] - p[1]);
                    if (radius > 1e6) {
                        throw SaccadeException.user("circle is larger than any image");
                    }
                    return Outline.Ring.ofEllipse(p[0], p[1], radius, radius);
                }
                default ->
                        throw SaccadeException.user(
                                "shape_type %s is not supported; expected polygon, rectangle or"
                                        + " circle",
                                shape.type);
            }
        }

        /** Cuts a shape out of all shapes before it, on top of which labelme draws it. */
        private void cut(String shapePlace, Outline hole) {
            if (hole.points().length > 2 * Hole.MAX_POINTS) {
                throw SaccadeException.user(
                        "got a hole of %d points, expected at most %d; simplify it",
                        hole.points().length / 2, Hole.MAX_POINTS);
            }
            try {
                if (!new Hole(hole).cut(parsed.objects())) {
                    parsed.warning(
                            shapePlace,
                            "%s overlaps no earlier shape, so it cuts nothing; move it after the"
                                    + " shapes that contain the hole",
                            BACKGROUND);
                }
            } catch (InternalError e) {
                // java.awt.geom.Area throws this for some polygons that touch themselves.
                throw SaccadeException.user(
                        e, "%s cannot be cut out of other shapes; annotate it again", BACKGROUND);
            }
        }
    }
}
