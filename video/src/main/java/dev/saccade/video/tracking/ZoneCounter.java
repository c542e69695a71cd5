package dev.saccade.video.tracking;

import com.google.common.collect.ImmutableSortedMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Box;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts the tracked objects whose center is in a polygon, by class. Not thread-safe. */
public final class ZoneCounter {

    /** Rejects fractions of the image size. */
    private static final double MIN_AREA = 2;

    private final double[] corners;
    private final RecentTracks<Boolean> visitors = new RecentTracks<>();
    private final Map<String, Integer> inside = new TreeMap<>();
    private final Map<String, Integer> total = new TreeMap<>();

    private ZoneCounter(double[] corners) {
        this.corners = corners;
    }

    /**
     * Creates a counter of a polygon, in pixels.
     *
     * @param corners {@code x, y, x, y, ...} of at least three corners
     * @throws SaccadeException of kind user, if the polygon has no area or its edges cross
     */
    public static ZoneCounter of(double... corners) {
        boolean isPolygon =
                corners.length >= 6 && corners.length % 2 == 0 && Coordinates.areValid(corners);
        if (isPolygon && hasCrossingEdges(corners)) {
            throw SaccadeException.user(
                    "zone: the edges of %s cross; list the corners in order around the area",
                    Arrays.toString(corners));
        }
        if (!isPolygon || Math.abs(area(corners)) < MIN_AREA) {
            throw SaccadeException.user(
                    "zone: got %s, expected x,y,x,y,... in pixels, of at least three corners around"
                            + " an area",
                    Arrays.toString(corners));
        }
        return new ZoneCounter(corners.clone());
    }

    /** Creates a counter of all objects, anywhere. */
    public static ZoneCounter everywhere() {
        return new ZoneCounter(new double[0]);
    }

    private static boolean hasCrossingEdges(double... corners) {
        int edges = corners.length / 2;
        for (int first = 0; first < edges; first++) {
            for (int second = first + 1; second < edges; second++) {
                if (crosses(corners, first, second) && crosses(corners, second, first)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns whether the ends of an edge are on different sides of the line of another edge. */
    private static boolean crosses(double[] corners, int edge, int line) {
        return side(corners, line, edge) * side(corners, line, edge + 1) < 0;
    }

    /** Returns the sign of the side of the line of an edge on which a corner is; 0: on it. */
    private static double side(double[] corners, int edge, int corner) {
        int a = 2 * edge;
        int b = (a + 2) % corners.length;
        int c = 2 * corner % corners.length;
        return Math.signum(
                (corners[b] - corners[a]) * (corners[c + 1] - corners[a + 1])
                        - (corners[b + 1] - corners[a + 1]) * (corners[c] - corners[a]));
    }

    private static double area(double[] corners) {
        double twice = 0;
        for (int i = 0, last = corners.length - 2; i < corners.length; last = i, i += 2) {
            twice += corners[last] * corners[i + 1] - corners[i] * corners[last + 1];
        }
        return twice / 2;
    }

    /** Adds the objects of the next frame. */
    public void update(List<TrackedObject> objects) {
        inside.clear();
        for (TrackedObject tracked : objects) {
            Box box = tracked.object().box();
            if (contains((box.x1() + box.x2()) / 2, (box.y1() + box.y2()) / 2)) {
                String label = tracked.object().label();
                inside.merge(label, 1, Integer::sum);
                if (visitors.put(tracked.id(), true) == null) {
                    total.merge(label, 1, Integer::sum);
                }
            }
        }
    }

    /** Counts the edges to the right of a point; an odd number encloses it. */
    private boolean contains(double x, double y) {
        boolean isInside = corners.length == 0;
        for (int i = 0, last = corners.length - 2; i < corners.length; last = i, i += 2) {
            double top = corners[last + 1];
            double bottom = corners[i + 1];
            if (top > y != bottom > y) {
                double part = (y - top) / (bottom - top);
                isInside ^= x < corners[last] + part * (corners[i] - corners[last]);
            }
        }
        return isInside;
    }

    /** Returns the number of objects in the zone in the last frame, by class. */
    public Map<String, Integer> inside() {
        return ImmutableSortedMap.copyOf(inside);
    }

    /** Returns the number of different objects that have been in the zone, by class. */
    public Map<String, Integer> total() {
        return ImmutableSortedMap.copyOf(total);
    }
}
