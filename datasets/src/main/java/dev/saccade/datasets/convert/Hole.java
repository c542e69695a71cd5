package dev.saccade.datasets.convert;

import com.google.common.primitives.Doubles;

import java.awt.geom.Area;
import java.awt.geom.Path2D;
import java.awt.geom.PathIterator;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A shape that is cut out of others. COCO's polygons have no holes, so a ring leads from the outer
 * border to that of the hole and back on the same line, which has no area.
 */
final class Hole {

    /** Rounding leaves slivers, smaller than any hole that somebody draws. */
    private static final double LEAST_AREA = 1e-6;

    /** Cutting takes long if many sides cross each other. */
    static final int MOST_POINTS = 2000;

    private final Area area;

    Hole(Outline shape) {
        this.area = area(List.of(shape));
    }

    private static double[] points(Outline outline) {
        return outline instanceof Outline.Box box
                ? box.ring().points()
                : ((Outline.Ring) outline).points();
    }

    private static Area area(List<Outline> outlines) {
        Area area = new Area();
        for (Outline outline : outlines) {
            double[] points = points(outline);
            Path2D.Double path = new Path2D.Double(Path2D.WIND_EVEN_ODD);
            for (int i = 0; i + 1 < points.length; i += 2) {
                if (i == 0) {
                    path.moveTo(points[0], points[1]);
                } else {
                    path.lineTo(points[i], points[i + 1]);
                }
            }
            if (points.length >= 6) {
                path.closePath();
                area.add(new Area(path));
            }
        }
        return area;
    }

    /** Returns whether it lies on some of the shapes. */
    boolean meets(List<Outline> outlines) {
        Area common = area(outlines);
        common.intersect(area);
        return rings(common).stream().anyMatch(ring -> Math.abs(signed(ring)) > LEAST_AREA);
    }

    /** Returns whether nothing of the shapes is left. */
    boolean covers(List<Outline> outlines) {
        return meets(outlines) && without(outlines).isEmpty();
    }

    /** Returns the shapes without it. */
    List<Outline> without(List<Outline> outlines) {
        Area rest = area(outlines);
        rest.subtract(area);
        List<double[]> rings = new ArrayList<>(rings(rest));
        rings.removeIf(ring -> Math.abs(signed(ring)) <= LEAST_AREA);
        rings.sort(Comparator.comparingDouble(ring -> -Math.abs(signed(ring))));
        List<double[]> borders = new ArrayList<>();
        for (double[] ring : rings) {
            // An Area leads its outer borders around in one direction, its holes in the other.
            boolean isBorder = signed(ring) * signed(rings.get(0)) > 0;
            int around = isBorder ? -1 : around(borders, ring);
            if (around < 0) {
                borders.add(ring);
            } else {
                borders.set(around, joined(borders.get(around), ring));
            }
        }
        return borders.stream().<Outline>map(Outline.Ring::new).toList();
    }

    /** Returns the smallest border around a hole; they are sorted by area, the largest first. */
    private static int around(List<double[]> borders, double[] hole) {
        for (int i = borders.size() - 1; i >= 0; i--) {
            Area outside = area(List.of(new Outline.Ring(hole)));
            outside.subtract(area(List.of(new Outline.Ring(borders.get(i)))));
            double left = rings(outside).stream().mapToDouble(ring -> Math.abs(signed(ring))).sum();
            if (left < Math.abs(signed(hole)) / 2) {
                return i;
            }
        }
        return -1;
    }

    /** Returns a ring around a border and, from its nearest corner, around a hole. */
    private static double[] joined(double[] border, double[] hole) {
        int from = 0;
        int to = 0;
        double nearest = Double.POSITIVE_INFINITY;
        for (int i = 0; i < border.length; i += 2) {
            for (int j = 0; j < hole.length; j += 2) {
                double distance = Math.hypot(border[i] - hole[j], border[i + 1] - hole[j + 1]);
                if (distance < nearest) {
                    nearest = distance;
                    from = i;
                    to = j;
                }
            }
        }
        List<Double> points = new ArrayList<>(Doubles.asList(border).subList(0, from + 2));
        points.addAll(Doubles.asList(hole).subList(to, hole.length));
        points.addAll(Doubles.asList(hole).subList(0, to + 2));
        points.addAll(Doubles.asList(border).subList(from, border.length));
        return Doubles.toArray(points);
    }

    /** Returns the area of a ring, negative in one direction. */
    private static double signed(double[] ring) {
        double twice = 0;
        for (int i = 0; i < ring.length; i += 2) {
            twice +=
                    ring[i] * ring[(i + 3) % ring.length]
                            - ring[(i + 2) % ring.length] * ring[i + 1];
        }
        return twice / 2;
    }

    private static List<double[]> rings(Area area) {
        List<double[]> rings = new ArrayList<>();
        List<Double> points = new ArrayList<>();
        double[] to = new double[6];
        for (PathIterator path = area.getPathIterator(null); !path.isDone(); path.next()) {
            switch (path.currentSegment(to)) {
                case PathIterator.SEG_MOVETO, PathIterator.SEG_LINETO -> {
                    points.add(to[0]);
                    points.add(to[1]);
                }
                default -> {
                    rings.add(Doubles.toArray(points));
                    points.clear();
                }
            }
        }
        return rings;
    }
}
