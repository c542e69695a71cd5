package dev.saccade.datasets.convert;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.labels.ClassName;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * CVAT for images 1.1: one XML file for all photographs, shapes in pixels of photographs turned
 * upright.
 *
 * <p>Boxes become boxes, turned ones the outline of their corners; polygons, ellipses and masks
 * become outlines. Shapes of one label and one {@code group_id} are parts of one object. Lines,
 * points, cuboids, skeletons, tags and attributes are not read.
 */
final class CvatReader implements LabelReader {

    private static final String IMAGE = "annotations/image";
    private static final Set<String> BESIDE_OBJECTS =
            Set.of("polyline", "points", "cuboid", "skeleton", "tag");

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return samples.have("CVAT");
    }

    @Override
    public ForeignLabels read(Reading reading) {
        List<Drawing> drawings = new ArrayList<>();
        Set<String> classes = new LinkedHashSet<>();
        for (String file : reading.folder().ending(".xml")) {
            File visitor = new File(reading, file, drawings, classes);
            try {
                XmlFile.visit(reading.folder().path(file), visitor);
            } catch (SaccadeException e) {
                reading.report(Finding.error(reading.place(file), e));
            }
            visitor.tellLeftOut();
        }
        return reading.labels(
                classes.isEmpty() ? Optional.empty() : Optional.of(ImmutableList.copyOf(classes)),
                drawings);
    }

    /** One file, and what stands in it. */
    private static final class File implements XmlFile.Visitor {

        private final Reading reading;
        private final String file;
        private final List<Drawing> drawings;
        private final Set<String> classes;
        private final Map<String, Integer> leftOut = new TreeMap<>();
        private final List<DrawnObject> objects = new ArrayList<>();
        private final List<Finding> findings = new ArrayList<>();
        private String imagePlace = "";
        private String name = "";
        private String subset = "";
        private Optional<Size> size = Optional.empty();

        File(Reading reading, String file, List<Drawing> drawings, Set<String> classes) {
            this.reading = reading;
            this.file = file;
            this.drawings = drawings;
            this.classes = classes;
        }

        void tellLeftOut() {
            leftOut.forEach(
                    (kind, count) ->
                            reading.warning(
                                    reading.place(file),
                                    Text.format(
                                                    "%d of <%s>, which are no objects with a box or an outline,",
                                                    count, kind)
                                            + " are left out"));
        }

        @Override
        public void start(String path, XmlFile at) {
            if (path.equals("annotations/track")) {
                throw SaccadeException.user(
                        "%s: tracks of a video; export \"CVAT for images 1.1\" instead",
                        at.place());
            } else if (path.equals(IMAGE)) {
                imagePlace = at.place();
                name = at.attribute("name").orElse("");
                subset = at.attribute("subset").orElse("");
                size = size(at);
                objects.clear();
                findings.clear();
            } else if (path.startsWith(IMAGE + "/")) {
                startShape(path.substring(IMAGE.length() + 1), at);
            } else if (!path.equals("annotations") && !path.startsWith("annotations/")) {
                throw SaccadeException.user("%s: <%s>, expected <annotations>", at.place(), path);
            }
        }

        private static Optional<Size> size(XmlFile at) {
            int width = at.attribute("width").map(Ints::tryParse).orElse(0);
            int height = at.attribute("height").map(Ints::tryParse).orElse(0);
            return width > 0 && height > 0
                    ? Optional.of(new Size(height, width))
                    : Optional.empty();
        }

        private void startShape(String kind, XmlFile at) {
            if (BESIDE_OBJECTS.contains(kind)) {
                leftOut.merge(kind, 1, Integer::sum);
                return;
            }
            try {
                Optional<Outline> outline =
                        switch (kind) {
                            case "box" -> Optional.of(box(at));
                            case "polygon" -> Optional.of(polygon(at));
                            case "ellipse" -> Optional.of(ellipse(at));
                            case "mask" -> Optional.of(mask(at));
                            default -> Optional.empty();
                        };
                outline.ifPresent(
                        shape ->
                                objects.add(
                                        new DrawnObject(
                                                at.place(),
                                                at.attribute("label").orElse(""),
                                                at.attribute("group_id")
                                                        .filter(group -> !group.equals("0"))
                                                        .orElse(""),
                                                List.of(shape),
                                                /* difficult= */ false)));
            } catch (SaccadeException e) {
                findings.add(Finding.error(at.place(), "", e.getMessage()));
            }
        }

        private static double number(XmlFile at, String key) {
            return number(key, at.attribute(key).orElse("nothing"));
        }

        private static double number(String key, String text) {
            Double number = Doubles.tryParse(text.strip());
            if (number == null || !Double.isFinite(number)) {
                throw SaccadeException.user(
                        "%s: got %s, expected a number with a point", key, text);
            }
            return number;
        }

        private static Outline box(XmlFile at) {
            Outline.Box box =
                    new Outline.Box(
                            number(at, "xtl"),
                            number(at, "ytl"),
                            number(at, "xbr"),
                            number(at, "ybr"));
            double degrees = rotation(at);
            double x = (box.left() + box.right()) / 2;
            double y = (box.top() + box.bottom()) / 2;
            return degrees == 0 ? box : box.ring().rotated(degrees, x, y);
        }

        private static double rotation(XmlFile at) {
            return at.attribute("rotation").map(t -> number("rotation", t)).orElse(0.0);
        }

        private static Outline polygon(XmlFile at) {
            String text = at.attribute("points").orElse("");
            List<Double> numbers = new ArrayList<>();
            for (String point : Splitter.on(';').split(text)) {
                List<String> xy = Splitter.on(',').splitToList(point);
                if (xy.size() != 2) {
                    throw SaccadeException.user("points: got \"%s\", expected x,y;x,y;...", point);
                }
                numbers.add(number("points", xy.get(0)));
                numbers.add(number("points", xy.get(1)));
            }
            return new Outline.Ring(Doubles.toArray(numbers));
        }

        private static Outline ellipse(XmlFile at) {
            double radiusX = number(at, "rx");
            double radiusY = number(at, "ry");
            if (Math.max(Math.abs(radiusX), Math.abs(radiusY)) > 1e6) {
                throw SaccadeException.user("an ellipse larger than any photograph");
            }
            double x = number(at, "cx");
            double y = number(at, "cy");
            return Outline.Ring.ofEllipse(x, y, radiusX, radiusY).rotated(rotation(at), x, y);
        }

        /** Reads runs over the rows of a part of the photograph, background first. */
        private static Outline mask(XmlFile at) {
            int width = side(at, "width");
            int height = side(at, "height");
            if (width < 1 || height < 1 || (long) width * height > 1 << 28) {
                throw SaccadeException.user("a mask of %d by %d pixels", width, height);
            }
            byte[] rows = new byte[width * height];
            int next = 0;
            byte value = 0;
            for (String run : Splitter.on(',').split(at.attribute("rle").orElse(""))) {
                Integer length = Ints.tryParse(run.strip());
                if (length == null || length < 0 || length > rows.length - next) {
                    throw SaccadeException.user(
                            "rle: got \"%s\", expected runs of %s in all",
                            run, Count.of(rows.length, "pixel"));
                }
                Arrays.fill(rows, next, next + length, value);
                next += length;
                value = (byte) (1 - value);
            }
            Rle mask = Rle.encode(new Size(height, width), rows);
            return new Outline.Bitmap(side(at, "left"), side(at, "top"), mask);
        }

        private static int side(XmlFile at, String key) {
            return Ints.saturatedCast(Math.round(number(at, key)));
        }

        @Override
        public void end(String path, String text, XmlFile at) {
            if (path.matches("annotations/meta/(task|project|job)/labels/label/name")) {
                classes.add(ClassName.of(text));
            } else if (path.equals(IMAGE)) {
                drawings.add(drawing());
            }
        }

        private Drawing drawing() {
            SourceFolder folder = reading.folder();
            String parent = SourceFolder.parent(file);
            Optional<String> photo =
                    List.of(parent + "images/" + subset + "/", parent + "images/", parent).stream()
                            .map(start -> folder.find(start, name))
                            .flatMap(Optional::stream)
                            .findFirst();
            if (photo.isEmpty()) {
                findings.add(Finding.error(imagePlace, "", "there is no photograph " + name));
            }
            Optional<Part> part = Part.named(subset).or(() -> photo.flatMap(Part::ofPath));
            return new Drawing(
                    photo.orElse(""),
                    photo.orElse(""),
                    /* embedded= */ false,
                    imagePlace,
                    part,
                    size,
                    /* inFractions= */ false,
                    DrawnObject.joined(objects),
                    PhotoObjects.limited(findings));
        }
    }
}
