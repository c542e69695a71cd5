package dev.saccade.video.tracking;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Box;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts the tracked objects whose center is in a polygon, by class. Not thread-safe. */
public final class ZoneCounter {

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
     * @throws SaccadeException of kind user, if the polygon has no area
     */
    public static ZoneCounter of(double... corners) {
        boolean isPolygon =
                corners.length >= 6
                        && corners.length % 2 == 0
                        && Arrays.stream(corners).allMatch(Double::isFinite)
                        && Math.abs(area(corners)) >= 1;
        if (!isPolygon) {
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
        return Map.copyOf(inside);
    }

    /** Returns the number of different objects that have been in the zone, by class. */
    public Map<String, Integer> total() {
        return Map.copyOf(total);
    }
}
