package dev.saccade.datasets.convert;

import com.google.common.primitives.Doubles;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.check.Reporter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Converts the shapes of an image to objects. Clips boxes, but keeps polygons, since masks are
 * clipped later. Reports a warning if a shape is skipped or clipped by more than a pixel, and an
 * error if a shape is invalid.
 */
final class ObjectBuilder {

    /** Pixels by which boxes may exceed the image without a warning, such as by rounding. */
    private static final double TOLERANCE = 1;

    /** Maximum absolute coordinate, beyond the size of any image. */
    private static final double FARTHEST = 1e6;

    private final Size size;
    private final Reporter faults;
    private final List<Annotation> objects = new ArrayList<>();
    private final Set<List<Object>> seen = new HashSet<>();

    ObjectBuilder(Size size, Reporter faults) {
        this.size = size;
        this.faults = faults;
    }

    List<Annotation> objects() {
        return objects;
    }

    void add(ParsedObject object, int label) {
        List<Outline> outlines =
                object.outlines().stream().map(outline -> outline.inPixels(size)).toList();
        try {
            if (outlines.get(0) instanceof Outline.Labeled labeled) {
                objects.add(labeled.object().with(0, label));
            } else if (outlines.size() == 1 && outlines.get(0) instanceof Outline.Box box) {
                addBox(object, label, box);
            } else if (outlines.stream().anyMatch(Outline.Bitmap.class::isInstance)) {
                addMask(object, label, Rle.union(outlines.stream().map(this::mask).toList()));
            } else {
                addRings(object, label, outlines.stream().map(Outline::points).toList());
            }
        } catch (SaccadeException e) {
            faults.error(object.place(), "%s", e.getMessage());
        }
    }

    private Rle mask(Outline outline) {
        if (!(outline instanceof Outline.Bitmap bitmap)) {
            return Rle.fromPolygon(size, outline.points());
        }
        Size part = bitmap.mask().size();
        int left = bitmap.left();
        int top = bitmap.top();
        if (left < 0
                || top < 0
                || part.width() > size.width() - left
                || part.height() > size.height() - top) {
            throw SaccadeException.user(
                    "mask of %s at row %d and column %d exceeds the image of %s",
                    part, top, left, size);
        }
        return bitmap.mask().place(top, left, size);
    }

    private void addBox(ParsedObject object, int label, Outline.Box box) {
        double[] edges = {box.left(), box.top(), box.right(), box.bottom()};
        String text = Arrays.toString(edges);
        if (!isNear(edges)) {
            faults.error(object.place(), "box %s exceeds the size of any image", text);
        } else if (box.right() < box.left() || box.bottom() < box.top()) {
            faults.error(
                    object.place(),
                    "got box %s, expected [left, top, right, bottom], right >= left, bottom >= top",
                    text);
        } else {
            clipped(object.place(), edges)
                    .map(b -> Annotation.of(0, label, b.x(), b.y(), b.width(), b.height()))
                    .ifPresent(
                            annotation ->
                                    add(
                                            object,
                                            annotation,
                                            annotation.box(),
                                            annotation.area(),
                                            ""));
        }
    }

    private void addRings(ParsedObject object, int label, List<double[]> rings) {
        for (double[] ring : rings) {
            if (ring.length < 6) {
                faults.error(
                        object.place(),
                        "got a polygon of %d points, expected 3 or more",
                        ring.length / 2);
                return;
            } else if (ring.length % 2 != 0 || !isNear(ring)) {
                faults.error(object.place(), "polygon exceeds the size of any image");
                return;
            }
        }
        Annotation annotation = Annotation.of(0, label, rings.toArray(double[][]::new));
        Annotation.Bbox box = annotation.box();
        double[] edges = {box.x(), box.y(), box.x() + box.width(), box.y() + box.height()};
        Optional<Annotation.Bbox> inside = clipped(object.place(), edges);
        if (inside.isPresent() && annotation.area() == 0) {
            faults.warning(object.place(), "polygon has no area; skipped");
        } else if (inside.isPresent()) {
            double area = Math.min(annotation.area(), inside.get().area());
            List<?> points = rings.stream().map(Doubles::asList).toList();
            add(object, annotation, inside.get(), area, points);
        }
    }

    private void addMask(ParsedObject object, int label, Rle mask) {
        if (mask.area() == 0) {
            faults.warning(object.place(), "mask has no pixels; skipped");
        } else {
            Annotation annotation = Annotation.of(0, label, mask);
            add(object, annotation, annotation.box(), annotation.area(), mask.toCompressedString());
        }
    }

    private static boolean isNear(double... numbers) {
        return Arrays.stream(numbers).allMatch(number -> Math.abs(number) <= FARTHEST);
    }

    private Optional<Annotation.Bbox> clipped(String place, double[] edges) {
        double left = Math.max(0, edges[0]);
        double top = Math.max(0, edges[1]);
        double right = Math.min(size.width(), edges[2]);
        double bottom = Math.min(size.height(), edges[3]);
        String box = "box " + Arrays.toString(edges);
        if (edges[0] == edges[2] || edges[1] == edges[3]) {
            faults.warning(place, "%s has no area; skipped", box);
            return Optional.empty();
        } else if (right <= left || bottom <= top) {
            faults.warning(place, "%s lies outside of %s; skipped", box, size.widthFirst());
            return Optional.empty();
        }
        double out =
                Doubles.max(left - edges[0], top - edges[1], edges[2] - right, edges[3] - bottom);
        if (out > TOLERANCE) {
            faults.warning(place, "%s exceeds %s; clipped", box, size.widthFirst());
        }
        if (right - left < 1 || bottom - top < 1) {
            faults.warning(place, "%s is thinner than a pixel; training drops it", box);
        }
        return Optional.of(new Annotation.Bbox(left, top, right - left, bottom - top));
    }

    private void add(
            ParsedObject object,
            Annotation annotation,
            Annotation.Bbox box,
            double area,
            Object shape) {
        if (!seen.add(List.of(annotation.label(), box, shape))) {
            faults.warning(object.place(), "repeats an earlier object; used once");
            return;
        }
        Set<Annotation.Flag> flags = object.difficult() ? Set.of(Annotation.Flag.CROWD) : Set.of();
        objects.add(
                new Annotation(0, annotation.label(), box, area, annotation.segmentation(), flags));
    }
}
