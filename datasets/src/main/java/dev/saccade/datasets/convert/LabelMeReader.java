package dev.saccade.datasets.convert;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.Json;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.LabelFormat;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.ListIterator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * LabelMe: a JSON file for each photograph, a list of shapes in pixels of the photograph turned
 * upright.
 *
 * <p>Polygons become outlines and rectangles boxes; a circle becomes the polygon that labelme's own
 * converter makes of it. A {@code _background_} is a hole in the shapes before it. Shapes of one
 * label and one {@code group_id} are parts of one object. The photograph is the file that {@code
 * imagePath} names; where that is missing, the copy in {@code imageData}.
 */
final class LabelMeReader implements LabelReader {

    private static final int MOST_NUMBERS = 1_000_000;
    private static final String BACKGROUND = "_background_";
    private static final String IGNORED = "__ignore__";
    private static final Set<String> BESIDE_OBJECTS =
            Set.of("point", "points", "line", "linestrip");

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return samples.have("LabelMe");
    }

    @Override
    public ForeignLabels read(Reading reading) {
        SourceFolder folder = reading.folder();
        List<Callable<Optional<Drawing>>> tasks = new ArrayList<>();
        for (String file : folder.ending(".json")) {
            tasks.add(
                    () -> {
                        boolean isOther =
                                LabelFormat.guess(folder.path(file))
                                        .filter(format -> !format.equals("LabelMe"))
                                        .isPresent();
                        return isOther
                                ? Optional.empty()
                                : Optional.of(new File(folder, file).read());
                    });
        }
        List<Drawing> drawings =
                Reading.inParallel(tasks, () -> {}).stream().flatMap(Optional::stream).toList();
        Set<String> labeled = new HashSet<>();
        drawings.forEach(drawing -> labeled.add(drawing.photograph()));
        reading.tellUnlabeled(folder.photographs(), labeled, "a file of labels");
        return reading.labels(
                ClassNames.find(folder, reading::report, "labels.txt", "classes.txt"), drawings);
    }

    /** One file, and what stands in it. */
    private static final class File {

        private final SourceFolder folder;
        private final String file;
        private final String place;
        private final List<DrawnObject> objects = new ArrayList<>();
        private final List<Finding> findings = new ArrayList<>();
        private String imagePath = "";
        private boolean hasData;
        private int width;
        private int height;

        File(SourceFolder folder, String file) {
            this.folder = folder;
            this.file = file;
            this.place = folder.path(file).toString();
        }

        Drawing read() {
            try (InputStream stream = RegularFile.open(folder.path(file));
                    JsonParser parser = Json.parser(stream)) {
                try {
                    read(parser);
                } catch (JsonProcessingException e) {
                    JsonLocation at = Json.place(e, parser);
                    throw SaccadeException.user(
                            "%s:%d:%d: no valid JSON: %s",
                            place, at.getLineNr(), at.getColumnNr(), e.getOriginalMessage());
                }
            } catch (IOException e) {
                findings.add(Finding.error(place, "", "cannot be read: " + e.getMessage()));
            } catch (SaccadeException e) {
                findings.add(Finding.error(place, e));
            }
            Optional<String> photo = photo();
            boolean embedded = photo.isEmpty() && hasData && SourceFolder.isPhotograph(imagePath);
            if (photo.isEmpty() && !embedded) {
                findings.add(
                        Finding.error(
                                place,
                                "",
                                Text.format(
                                        "there is no photograph %s, and no imageData in its place%s",
                                        imagePath, hasData ? " for a file of such a name" : "")));
            }
            String name = photo.orElse(embedded ? embeddedName() : "");
            boolean isSized = width > 0 && height > 0;
            return new Drawing(
                    name,
                    embedded ? file : name,
                    embedded,
                    place,
                    Part.ofPath(file),
                    isSized ? Optional.of(new Size(height, width)) : Optional.empty(),
                    /* inFractions= */ false,
                    DrawnObject.joined(objects),
                    PhotoObjects.limited(findings));
        }

        private Optional<String> photo() {
            Optional<String> named =
                    imagePath.isEmpty()
                            ? Optional.empty()
                            : folder.find(SourceFolder.parent(file), imagePath);
            if (named.isPresent()) {
                return named;
            }
            List<String> same = folder.photographsOf(SourceFolder.stem(file));
            if (same.size() > 1) {
                findings.add(
                        Finding.error(
                                place,
                                "",
                                Text.format(
                                        "may be the labels of %s; expected one of them in imagePath",
                                        String.join(" or ", same))));
            }
            return same.size() == 1 ? Optional.of(same.get(0)) : Optional.empty();
        }

        private String embeddedName() {
            String name = SourceFolder.fileName(imagePath.replace('\\', '/'));
            return SourceFolder.stem(file) + name.substring(SourceFolder.stem(name).length());
        }

        private void read(JsonParser parser) throws IOException {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw SaccadeException.user("%s: expected an object with shapes", place);
            }
            boolean hasShapes = false;
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String key = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (key) {
                    case "imagePath" ->
                            imagePath = value == JsonToken.VALUE_STRING ? parser.getText() : "";
                    case "imageData" -> hasData = value == JsonToken.VALUE_STRING;
                    case "imageWidth" -> width = side(parser);
                    case "imageHeight" -> height = side(parser);
                    case "shapes" -> {
                        hasShapes = true;
                        readShapes(parser);
                    }
                    default -> parser.skipChildren();
                }
            }
            if (!hasShapes) {
                findings.add(Finding.error(place, "", "has no shapes, expected those of LabelMe"));
            }
        }

        private static int side(JsonParser parser) throws IOException {
            int side = Ints.saturatedCast(Json.integer(parser).orElse(0));
            parser.skipChildren();
            return side;
        }

        private void readShapes(JsonParser parser) throws IOException {
            if (!parser.isExpectedStartArrayToken()) {
                findings.add(Finding.error(at(parser), "", "shapes: expected a list"));
                parser.skipChildren();
                return;
            }
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() == JsonToken.START_OBJECT) {
                    readShape(parser);
                } else {
                    findings.add(Finding.error(at(parser), "", "expected a shape"));
                    parser.skipChildren();
                }
            }
        }

        private String at(JsonParser parser) {
            return place + ":" + parser.currentTokenLocation().getLineNr();
        }

        private void readShape(JsonParser parser) throws IOException {
            String shapePlace = at(parser);
            String label = "";
            String type = "polygon";
            String group = "";
            double[] points = new double[0];
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String key = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (key) {
                    case "label" -> label = value.isScalarValue() ? parser.getText() : "";
                    case "shape_type" -> type = value.isScalarValue() ? parser.getText() : "";
                    case "group_id" ->
                            group =
                                    value.isScalarValue() && value != JsonToken.VALUE_NULL
                                            ? parser.getText()
                                            : "";
                    case "points" -> points = readPoints(parser);
                    default -> parser.skipChildren();
                }
                if (!value.isScalarValue() && !key.equals("points")) {
                    parser.skipChildren();
                }
            }
            addShape(shapePlace, label, type, group, points);
        }

        /** Reads {@code [[x, y], ...]}; what is no number becomes none, and is found as that. */
        private static double[] readPoints(JsonParser parser) throws IOException {
            List<Double> numbers = new ArrayList<>();
            int depth = 0;
            do {
                switch (parser.currentToken()) {
                    case START_ARRAY, START_OBJECT -> depth++;
                    case END_ARRAY, END_OBJECT -> depth--;
                    case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
                            numbers.add(parser.getDoubleValue());
                    case FIELD_NAME -> {}
                    default -> numbers.add(Double.NaN);
                }
            } while (depth > 0 && numbers.size() < MOST_NUMBERS && parser.nextToken() != null);
            return Doubles.toArray(numbers);
        }

        private void addShape(
                String shapePlace, String label, String type, String group, double[] points) {
            if (label.equals(IGNORED)) {
                findings.add(
                        Finding.warning(
                                shapePlace,
                                "",
                                label
                                        + " is left out: objects that are detected there count as"
                                        + " wrong"));
                return;
            }
            if (label.isEmpty() || !Doubles.asList(points).stream().allMatch(Double::isFinite)) {
                findings.add(
                        Finding.error(
                                shapePlace,
                                "",
                                label.isEmpty()
                                        ? "a shape without a label"
                                        : "points: expected pairs of numbers"));
                return;
            }
            switch (type) {
                case "polygon", "rotation" ->
                        add(shapePlace, label, group, new Outline.Ring(points));
                case "rectangle" -> addRectangle(shapePlace, label, group, points);
                case "circle" -> addCircle(shapePlace, label, group, points);
                default -> {
                    if (BESIDE_OBJECTS.contains(type)) {
                        findings.add(
                                Finding.warning(
                                        shapePlace,
                                        "",
                                        Text.format("a %s is no object, it is left out", type)));
                    } else {
                        findings.add(
                                Finding.error(
                                        shapePlace,
                                        "",
                                        Text.format(
                                                        "shape_type %s is not read, expected polygon, rectangle or",
                                                        type)
                                                + " circle"));
                    }
                }
            }
        }

        private void add(String shapePlace, String label, String group, Outline outline) {
            if (label.equals(BACKGROUND)) {
                try {
                    cut(shapePlace, outline);
                } catch (InternalError e) {
                    // What java.awt.geom.Area throws for some polygons that touch themselves.
                    findings.add(
                            Finding.error(
                                    shapePlace,
                                    "",
                                    BACKGROUND
                                            + " cannot be cut out of other shapes; draw it again"));
                }
            } else {
                objects.add(new DrawnObject(shapePlace, label, group, List.of(outline), false));
            }
        }

        /** Takes a shape from all shapes before it, over which labelme draws it. */
        private void cut(String shapePlace, Outline hole) {
            if (hole instanceof Outline.Ring ring && ring.points().length > 2 * Hole.MOST_POINTS) {
                findings.add(
                        Finding.error(
                                shapePlace,
                                "",
                                Text.format(
                                        "hole of %d points, expected at most %d; simplify it",
                                        ring.points().length / 2, Hole.MOST_POINTS)));
                return;
            }
            Hole cut = new Hole(hole);
            boolean isCut = objects.removeIf(object -> cut.covers(object.outlines()));
            for (ListIterator<DrawnObject> each = objects.listIterator(); each.hasNext(); ) {
                DrawnObject object = each.next();
                if (cut.meets(object.outlines())) {
                    each.set(object.with(cut.without(object.outlines())));
                    isCut = true;
                }
            }
            if (!isCut) {
                findings.add(
                        Finding.warning(
                                shapePlace,
                                "",
                                BACKGROUND
                                        + " lies on no shape before it, and cuts nothing; move it"
                                        + " behind the shapes that it is a hole of"));
            }
        }

        /** Newer versions write all four corners. */
        private void addRectangle(String shapePlace, String label, String group, double[] points) {
            if (points.length != 4 && points.length != 8) {
                findings.add(
                        Finding.error(
                                shapePlace,
                                "",
                                Text.format(
                                        "a rectangle of %d numbers, expected two opposite corners",
                                        points.length)));
                return;
            }
            int opposite = points.length / 2;
            add(
                    shapePlace,
                    label,
                    group,
                    new Outline.Box(
                            Math.min(points[0], points[opposite]),
                            Math.min(points[1], points[opposite + 1]),
                            Math.max(points[0], points[opposite]),
                            Math.max(points[1], points[opposite + 1])));
        }

        private void addCircle(String shapePlace, String label, String group, double[] points) {
            if (points.length != 4) {
                findings.add(
                        Finding.error(
                                shapePlace,
                                "",
                                Text.format(
                                        "a circle of %d numbers, expected its center and a point on it",
                                        points.length)));
                return;
            }
            double radius = Math.hypot(points[2] - points[0], points[3] - points[1]);
            if (radius > 1e6) {
                findings.add(Finding.error(shapePlace, "", "a circle larger than any photograph"));
            } else {
                add(
                        shapePlace,
                        label,
                        group,
                        Outline.Ring.ofEllipse(points[0], points[1], radius, radius));
            }
        }
    }
}
