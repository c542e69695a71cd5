package dev.saccade.datasets.convert.formats;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.XmlElement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * CVAT for images 1.1: one XML file for all images, shapes in pixels of the upright images.
 *
 * <p>Rotated boxes become outlines of their corners; polygons, ellipses and masks become outlines.
 * Shapes of the same label and {@code group_id} are parts of one object. Tags become the classes of
 * images if there are no shapes. Ignores lines, points, cuboids, skeletons and attributes.
 */
final class CvatReader implements LabelReader {

    private static final Set<String> NO_OBJECTS =
            Set.of("polyline", "points", "cuboid", "skeleton");

    @Override
    public SourceLabels read(ConversionContext context) {
        List<ParsedImage> images = new ArrayList<>();
        ImageClasses tags = new ImageClasses();
        Set<String> classes = new LinkedHashSet<>();
        for (String file : context.folder().ending(".xml")) {
            Map<String, Integer> skippedShapes = new TreeMap<>();
            File reader = new File(context, file, images, tags, classes, skippedShapes);
            context.attempt(
                    context.place(file),
                    () ->
                            XmlElement.forEach(
                                    context.folder().path(file), "annotations", reader::read));
            skippedShapes.forEach(
                    (name, count) ->
                            context.warning(
                                    context.place(file),
                                    "skipped %d <%s>, which have no box or outline",
                                    count,
                                    name));
        }
        tags.addTo(images, context, "<tag>");
        Optional<ImmutableList<String>> known =
                Optional.of(ImmutableList.copyOf(classes)).filter(names -> !names.isEmpty());
        return LabelBuilder.build(context, known, images, Map.of());
    }

    private record File(
            ConversionContext context,
            String file,
            List<ParsedImage> images,
            ImageClasses tags,
            Set<String> classes,
            Map<String, Integer> skippedShapes) {

        void read(XmlElement element) {
            switch (element.name()) {
                case "meta" -> readClasses(element);
                case "image" -> readImage(element);
                case "track" ->
                        throw SaccadeException.user(
                                "%s: contains video tracks; export \"CVAT for images 1.1\" instead",
                                element.place());
                default -> {}
            }
        }

        private void readClasses(XmlElement meta) {
            for (String owner : List.of("task", "project", "job")) {
                meta.child(owner, "labels").map(XmlElement::children).orElse(List.of()).stream()
                        .flatMap(label -> label.child("name").stream())
                        .forEach(name -> classes.add(ClassName.of(name.text())));
            }
        }

        private void readImage(XmlElement element) {
            ParsedImage parsed = new ParsedImage(element.place());
            for (XmlElement shape : element.children()) {
                if (shape.name().equals("tag")) {
                    tags.add(parsed, shape.place(), shape.attribute("label").orElse(""));
                } else if (NO_OBJECTS.contains(shape.name())) {
                    skippedShapes.merge(shape.name(), 1, Integer::sum);
                } else {
                    parsed.attempt(
                            shape.place(),
                            () ->
                                    outline(shape)
                                            .ifPresent(
                                                    o -> parsed.objects().add(object(shape, o))));
                }
            }
            String name = element.attribute("name").orElse("");
            String subset = element.attribute("subset").orElse("");
            String parent = SourceFolder.parent(file);
            List<String> folders =
                    List.of(parent + "images/" + subset + "/", parent + "images/", parent);
            Optional<String> image = context.folder().findFrom(folders, name);
            parsed.setImage(image, name);
            parsed.setSplit(Split.named(subset).or(() -> image.flatMap(Split::ofPath)));
            parsed.declare(
                    element.attribute("width").map(Ints::tryParse).orElse(0),
                    element.attribute("height").map(Ints::tryParse).orElse(0));
            images.add(parsed.limitFindings());
        }
    }

    private static ParsedObject object(XmlElement shape, Outline outline) {
        String label = shape.attribute("label").orElse("");
        String group = shape.attribute("group_id").filter(id -> !id.equals("0")).orElse("");
        return new ParsedObject(shape.place(), label, group, List.of(outline), false);
    }

    private static Optional<Outline> outline(XmlElement shape) {
        return switch (shape.name()) {
            case "box" -> Optional.of(box(shape));
            case "polygon" -> Optional.of(polygon(shape));
            case "ellipse" -> Optional.of(ellipse(shape));
            case "mask" -> Optional.of(mask(shape));
            default -> Optional.empty();
        };
    }

    private static double rotation(XmlElement shape) {
        return shape.attribute("rotation")
                .map(text -> XmlElement.number("rotation", text))
                .orElse(0.0);
    }

    private static Outline box(XmlElement shape) {
        Outline.Box box =
                new Outline.Box(
                        shape.number("xtl"),
                        shape.number("ytl"),
                        shape.number("xbr"),
                        shape.number("ybr"));
        double degrees = rotation(shape);
        double x = (box.left() + box.right()) / 2;
        double y = (box.top() + box.bottom()) / 2;
        return degrees == 0 ? box : new Outline.Ring(box.points()).rotated(degrees, x, y);
    }

    private static Outline polygon(XmlElement shape) {
        List<Double> numbers = new ArrayList<>();
        for (String point : Splitter.on(';').split(shape.attribute("points").orElse(""))) {
            List<String> xy = Splitter.on(',').splitToList(point);
            if (xy.size() != 2) {
                throw SaccadeException.user("points: got \"%s\", expected x,y;x,y;...", point);
            }
            xy.forEach(text -> numbers.add(XmlElement.number("points", text)));
        }
        return new Outline.Ring(Doubles.toArray(numbers));
    }

    private static Outline ellipse(XmlElement shape) {
        double radiusX = shape.number("rx");
        double radiusY = shape.number("ry");
        if (Math.max(Math.abs(radiusX), Math.abs(radiusY)) > 1e6) {
            throw SaccadeException.user("ellipse is larger than any image");
        }
        double x = shape.number("cx");
        double y = shape.number("cy");
        return Outline.Ring.ofEllipse(x, y, radiusX, radiusY).rotated(rotation(shape), x, y);
    }

    /** Reads a mask of a part of the image from row-wise run lengths, background first. */
    private static Outline mask(XmlElement shape) {
        int width = side(shape, "width");
        int height = side(shape, "height");
        if (width < 1 || height < 1 || (long) width * height > 1 << 28) {
            throw SaccadeException.user(
                    "got a mask of %d by %d pixels, expected 1 to 268 million" + " pixels",
                    width, height);
        }
        byte[] rows = new byte[width * height];
        int next = 0;
        byte value = 0;
        for (String run : Splitter.on(',').split(shape.attribute("rle").orElse(""))) {
            Integer length = Ints.tryParse(run.strip());
            if (length == null || length < 0 || length > rows.length - next) {
                throw SaccadeException.user(
                        "rle: got \"%s\", expected run lengths of %s in total",
                        run, Count.of(rows.length, "pixel"));
            }
            Arrays.fill(rows, next, next + length, value);
            next += length;
            value = (byte) (1 - value);
        }
        Rle mask = Rle.encode(new Size(height, width), rows);
        return new Outline.Bitmap(side(shape, "left"), side(shape, "top"), mask);
    }

    private static int side(XmlElement shape, String key) {
        return Ints.saturatedCast(Math.round(shape.number(key)));
    }
}
