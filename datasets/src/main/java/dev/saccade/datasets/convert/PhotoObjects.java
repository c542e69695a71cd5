package dev.saccade.datasets.convert;

import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The objects of one photograph, made of what is drawn on it. Boxes are clipped to the photograph,
 * polygons are kept as they are, since masks are cut off anyway; what is left out or clipped by
 * more than a pixel is a warning, and what has no meaning an error.
 */
final class PhotoObjects {

    /** Rounding and mice miss the edge by so many pixels. */
    private static final double TOLERANCE = 1;

    /** Farther away than any photograph is large. */
    private static final double FARTHEST = 1e6;

    private static final int MOST_FINDINGS = 100;

    private final Size size;
    private final List<Finding> findings;
    private final List<Annotation> objects = new ArrayList<>();
    private final Set<List<Object>> seen = new HashSet<>();

    /**
     * Starts with none.
     *
     * @param findings what is wrong with the photograph so far
     */
    PhotoObjects(Size size, List<Finding> findings) {
        this.size = size;
        this.findings = new ArrayList<>(findings);
    }

    List<Annotation> objects() {
        return objects;
    }

    /** Returns the first 100 by their lines and how many there are besides. */
    List<Finding> findings() {
        return limited(findings);
    }

    /** Returns likewise the findings of a file; one of 10,000 lines tells no more. */
    static List<Finding> limited(List<Finding> findings) {
        List<Finding> sorted =
                findings.stream().sorted(Comparator.comparing(PhotoObjects::line)).toList();
        if (sorted.size() <= MOST_FINDINGS) {
            return sorted;
        }
        List<Finding> most = new ArrayList<>(sorted.subList(0, MOST_FINDINGS));
        boolean errors = sorted.stream().anyMatch(f -> f.severity() == Finding.Severity.ERROR);
        String file = sorted.get(MOST_FINDINGS).file();
        String more = Text.format("and %d more", sorted.size() - MOST_FINDINGS);
        most.add(errors ? Finding.error(file, "", more) : Finding.warning(file, "", more));
        return most;
    }

    private static int line(Finding finding) {
        String file = finding.file();
        Integer line = Ints.tryParse(file.substring(file.lastIndexOf(':') + 1));
        return line == null ? 0 : line;
    }

    void error(String place, String message) {
        findings.add(Finding.error(place, "", message));
    }

    private void warning(String place, String message) {
        findings.add(Finding.warning(place, "", message));
    }

    /** Adds an object, or says why it is none. */
    void add(DrawnObject object, int label) {
        List<Outline> outlines = object.outlines();
        try {
            if (outlines.get(0) instanceof Outline.Labeled labeled) {
                objects.add(labeled.object().with(0, label));
            } else if (outlines.size() == 1 && outlines.get(0) instanceof Outline.Box box) {
                addBox(object, label, box);
            } else if (outlines.stream().anyMatch(Outline.Bitmap.class::isInstance)) {
                addMask(object, label, Rle.union(outlines.stream().map(this::mask).toList()));
            } else {
                addRings(object, label, outlines.stream().map(PhotoObjects::ring).toList());
            }
        } catch (SaccadeException e) {
            error(object.place(), e.getMessage());
        }
    }

    private static double[] ring(Outline outline) {
        return outline instanceof Outline.Box box
                ? box.ring().points()
                : ((Outline.Ring) outline).points();
    }

    private Rle mask(Outline outline) {
        if (!(outline instanceof Outline.Bitmap bitmap)) {
            return Rle.fromPolygon(size, ring(outline));
        }
        Size part = bitmap.mask().size();
        int left = bitmap.left();
        int top = bitmap.top();
        if (left < 0
                || top < 0
                || part.width() > size.width() - left
                || part.height() > size.height() - top) {
            throw SaccadeException.user(
                    "a mask of %s at row %d and column %d leaves the photograph, which is %s",
                    part, top, left, size);
        }
        Size moved = new Size(top + part.height(), left + part.width());
        Rle turned = bitmap.mask().flipHorizontal().flipVertical();
        return turned.pad(moved).flipHorizontal().flipVertical().pad(size);
    }

    private void addBox(DrawnObject object, int label, Outline.Box box) {
        double[] edges = {box.left(), box.top(), box.right(), box.bottom()};
        String place = object.place();
        if (!areNear(edges)) {
            error(place, "box " + Arrays.toString(edges) + " is not in any photograph");
        } else if (box.right() < box.left() || box.bottom() < box.top()) {
            error(
                    place,
                    Text.format(
                            "box %s, expected left, top, right and bottom edge, each beyond its opposite",
                            Arrays.toString(edges)));
        } else {
            clipped(place, edges)
                    .ifPresent(
                            bbox ->
                                    add(
                                            object,
                                            label,
                                            bbox,
                                            bbox.area(),
                                            new Segmentation.None(),
                                            List.of()));
        }
    }

    private void addRings(DrawnObject object, int label, List<double[]> rings) {
        for (double[] ring : rings) {
            if (ring.length < 6 || ring.length % 2 != 0 || !areNear(ring)) {
                error(
                        object.place(),
                        ring.length < 6
                                ? Text.format(
                                        "a polygon of %d points, expected 3 or more",
                                        ring.length / 2)
                                : "a polygon that is not in any photograph");
                return;
            }
        }
        Annotation drawn = Annotation.of(0, label, rings.toArray(double[][]::new));
        Annotation.Bbox box = drawn.box();
        double[] edges = {box.x(), box.y(), box.x() + box.width(), box.y() + box.height()};
        Optional<Annotation.Bbox> bbox = clipped(object.place(), edges);
        if (bbox.isPresent() && drawn.area() == 0) {
            warning(object.place(), "a polygon without area, it is left out");
        } else if (bbox.isPresent()) {
            double area = Math.min(drawn.area(), bbox.get().area());
            List<Object> points = List.copyOf(rings.stream().map(Doubles::asList).toList());
            add(object, label, bbox.get(), area, drawn.segmentation(), points);
        }
    }

    private void addMask(DrawnObject object, int label, Rle mask) {
        if (mask.area() == 0) {
            warning(object.place(), "a mask without a pixel, it is left out");
            return;
        }
        Annotation drawn = Annotation.of(0, label, mask);
        add(
                object,
                label,
                drawn.box(),
                drawn.area(),
                drawn.segmentation(),
                List.of(mask.toCompressedString()));
    }

    private static boolean areNear(double... numbers) {
        return Arrays.stream(numbers).allMatch(number -> Math.abs(number) <= FARTHEST);
    }

    /** Returns what of a box is in the photograph; nothing if there is nothing to be learned. */
    private Optional<Annotation.Bbox> clipped(String place, double[] edges) {
        double left = Math.max(0, edges[0]);
        double top = Math.max(0, edges[1]);
        double right = Math.min(size.width(), edges[2]);
        double bottom = Math.min(size.height(), edges[3]);
        String box = "box " + Arrays.toString(edges);
        if (edges[0] == edges[2] || edges[1] == edges[3]) {
            warning(place, box + " has no area, it is left out");
            return Optional.empty();
        } else if (right <= left || bottom <= top) {
            warning(
                    place,
                    Text.format("%s lies outside of %s, it is left out", box, size.widthFirst()));
            return Optional.empty();
        }
        double out =
                Math.max(
                        Math.max(left - edges[0], top - edges[1]),
                        Math.max(edges[2] - right, edges[3] - bottom));
        if (out > TOLERANCE) {
            warning(
                    place,
                    Text.format("%s sticks out of %s, it is clipped", box, size.widthFirst()));
        }
        if (right - left < 1 || bottom - top < 1) {
            warning(place, box + " is thinner than a pixel, training drops it");
        }
        return Optional.of(new Annotation.Bbox(left, top, right - left, bottom - top));
    }

    private void add(
            DrawnObject object,
            int label,
            Annotation.Bbox box,
            double area,
            Segmentation segmentation,
            List<Object> points) {
        Set<Annotation.Mark> marks = EnumSet.noneOf(Annotation.Mark.class);
        if (object.difficult()) {
            marks.add(Annotation.Mark.CROWD);
        }
        if (seen.add(List.of(label, box, points))) {
            objects.add(new Annotation(0, label, box, area, segmentation, marks));
        } else {
            warning(object.place(), "the same object stands above, it is taken once");
        }
    }
}
