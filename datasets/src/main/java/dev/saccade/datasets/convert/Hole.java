package dev.saccade.datasets.convert;

import com.google.common.primitives.Doubles;

import java.awt.geom.Area;
import java.awt.geom.Path2D;
import java.awt.geom.PathIterator;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ListIterator;

/**
 * A shape that is cut out of objects. COCO's polygons have no holes, so the outer border and the
 * border of the hole become one ring, connected by a line without area.
 */
public final class Hole {

    /** Maximum number of points to cut, as cutting is slow if many sides cross each other. */
    public static final int MAX_POINTS = 2000;

    /** Maximum area in pixels of slivers left by rounding, which are dropped. */
    private static final double MIN_AREA = 1e-6;

    private final Area area;

    public Hole(Outline shape) {
        this.area = area(List.of(shape));
    }

    /** Cuts the hole out of objects; drops fully cut ones. Returns whether any object was cut. */
    public boolean cut(List<ParsedObject> objects) {
        boolean isCut = false;
        for (ListIterator<ParsedObject> each = objects.listIterator(); each.hasNext(); ) {
            ParsedObject object = each.next();
            Area common = area(object.outlines());
            common.intersect(area);
            if (rings(common).isEmpty()) {
                continue;
            }
            isCut = true;
            List<Outline> rest = without(object.outlines());
            if (rest.isEmpty()) {
                each.remove();
            } else {
                each.set(object.with(rest));
            }
        }
        return isCut;
    }

    private static Area area(List<Outline> outlines) {
        Area area = new Area();
        for (Outline outline : outlines) {
            double[] points = outline.points();
            if (points.length >= 6) {
                Path2D.Double path = new Path2D.Double(Path2D.WIND_EVEN_ODD);
                path.moveTo(points[0], points[1]);
                for (int i = 2; i + 1 < points.length; i += 2) {
                    path.lineTo(points[i], points[i + 1]);
                }
                path.closePath();
                area.add(new Area(path));
            }
        }
        return area;
    }

    private List<Outline> without(List<Outline> outlines) {
        Area rest = area(outlines);
        rest.subtract(area);
        List<double[]> rings = rings(rest);
        rings.sort(Comparator.comparingDouble(ring -> -Math.abs(signed(ring))));
        List<double[]> borders = new ArrayList<>();
        for (double[] ring : rings) {
            // An Area traverses outer borders in one direction, and holes in the other.
            boolean isBorder = signed(ring) * signed(rings.get(0)) > 0;
            int around = isBorder ? -1 : enclosing(borders, ring);
            if (around < 0) {
                borders.add(ring);
            } else {
                borders.set(around, join(borders.get(around), ring));
            }
        }
        return borders.stream().<Outline>map(Outline.Ring::new).toList();
    }

    /** Returns the index of the smallest border around a hole, or -1; large borders are first. */
    private static int enclosing(List<double[]> borders, double[] hole) {
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

    /** Returns a ring that connects two rings, such as a border and a hole, at nearest corners. */
    static double[] join(double[] border, double[] hole) {
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

    private static double signed(double[] ring) {
        double twice = 0;
        for (int i = 0; i < ring.length; i += 2) {
            int next = (i + 2) % ring.length;
            twice += ring[i] * ring[next + 1] - ring[next] * ring[i + 1];
        }
        return twice / 2;
    }

    private static List<double[]> rings(Area area) {
        List<double[]> rings = new ArrayList<>();
        List<Double> points = new ArrayList<>();
        double[] to = new double[6];
        for (PathIterator path = area.getPathIterator(null); !path.isDone(); path.next()) {
            if (path.currentSegment(to) != PathIterator.SEG_CLOSE) {
                points.addAll(Doubles.asList(to[0], to[1]));
            } else {
                rings.add(Doubles.toArray(points));
                points.clear();
            }
        }
        rings.removeIf(ring -> Math.abs(signed(ring)) <= MIN_AREA);
        return rings;
    }
}
