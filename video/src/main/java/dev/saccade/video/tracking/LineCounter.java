package dev.saccade.video.tracking;

import com.google.common.collect.ImmutableSortedMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Box;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the tracked objects that cross a line, by class and direction.
 *
 * <p>An object crosses the line when its center moves from one side to the other between the ends
 * of the line. A center closer to the line than a tenth of the shorter side of the box has not
 * crossed it yet, so that jitter is not counted. Not thread-safe.
 */
public final class LineCounter {

    private static final double MARGIN = 0.1;

    /** Rejects fractions of the image size. */
    private static final double MIN_LENGTH = 2;

    private final double x1;
    private final double y1;
    private final double x2;
    private final double y2;
    private final double length;
    private final RecentTracks<Position> positions = new RecentTracks<>();
    private final Map<String, Integer> in = new TreeMap<>();
    private final Map<String, Integer> out = new TreeMap<>();

    /** Last center that was not close to the line, and its signed distance. */
    private record Position(double x, double y, double distance) {}

    private LineCounter(double x1, double y1, double x2, double y2) {
        this.x1 = x1;
        this.y1 = y1;
        this.x2 = x2;
        this.y2 = y2;
        this.length = Math.hypot(x2 - x1, y2 - y1);
    }

    /**
     * Creates a counter of a line from one point to another, in pixels.
     *
     * @param ends {@code x1, y1, x2, y2}
     * @throws SaccadeException of kind user, unless these are two different points
     */
    public static LineCounter of(double... ends) {
        boolean isLine =
                ends.length == 4
                        && Coordinates.areValid(ends)
                        && Math.hypot(ends[2] - ends[0], ends[3] - ends[1]) >= MIN_LENGTH;
        if (!isLine) {
            throw SaccadeException.user(
                    "line: got %s, expected x1,y1,x2,y2 in pixels, of two points at least 2"
                            + " pixels apart",
                    Arrays.toString(ends));
        }
        return new LineCounter(ends[0], ends[1], ends[2], ends[3]);
    }

    /** Adds the objects of the next frame. */
    public void update(List<TrackedObject> objects) {
        objects.forEach(this::update);
    }

    private void update(TrackedObject tracked) {
        Box box = tracked.object().box();
        double x = (box.x1() + box.x2()) / 2;
        double y = (box.y1() + box.y2()) / 2;
        double distance = ((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) / length;
        if (Math.abs(distance) <= MARGIN * Math.min(box.width(), box.height())) {
            return;
        }
        Position now = new Position(x, y, distance);
        Position before = positions.put(tracked.id(), now);
        if (before != null && before.distance * distance < 0 && crosses(before, now)) {
            (distance < 0 ? in : out).merge(tracked.object().label(), 1, Integer::sum);
        }
    }

    /** Returns whether the path between two positions crosses the line between its ends. */
    private boolean crosses(Position from, Position to) {
        double part = from.distance / (from.distance - to.distance);
        double x = from.x + part * (to.x - from.x);
        double y = from.y + part * (to.y - from.y);
        double along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length;
        return along >= 0 && along <= length;
    }

    /**
     * Returns crossings to the left by class, as seen from the first point to the second: upwards
     * for a line drawn from left to right.
     */
    public Map<String, Integer> in() {
        return ImmutableSortedMap.copyOf(in);
    }

    /** Returns crossings to the right by class. */
    public Map<String, Integer> out() {
        return ImmutableSortedMap.copyOf(out);
    }
}
