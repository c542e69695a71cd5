package dev.saccade.video.tracking;

import dev.saccade.models.Box;
import dev.saccade.video.tracking.Association.Candidate;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * A track of {@link OcSort}: center, area and aspect ratio of a box, with velocities of center and
 * area.
 */
final class OcTracklet {

    private static final double[] NOISE = {1, 1, 10, 10};
    private static final double[] PROCESS = {1, 1, 1, 1, 0.01, 0.01, 0.0001};
    private static final double[] INITIAL = {10, 10, 10, 10, 10_000, 10_000, 10_000};
    private static final double EPSILON = 1e-6;

    final int id;

    private final int deltaT;
    private KalmanFilter filter;

    /** State at the first frame without detection, before it was known. */
    private Optional<KalmanFilter> frozen = Optional.empty();

    private Detection detection;
    private boolean isObserved;

    /** Detected boxes since the second detection, at most {@code deltaT + 1}, oldest first. */
    private final Deque<Observation> observations = new ArrayDeque<>();

    private double directionX;
    private double directionY;
    private int age;
    private int misses;
    private int streak;

    /** A detected box at an age of the track. */
    private record Observation(int age, Box box) {}

    OcTracklet(int id, Detection detection, int deltaT) {
        this.id = id;
        this.detection = detection;
        this.deltaT = deltaT;
        this.filter = new KalmanFilter(measurement(detection.box()), INITIAL);
    }

    void predict() {
        if (filter.mean[6] + filter.mean[2] <= 0) {
            filter.mean[6] = 0;
        }
        filter.predict(PROCESS);
        age++;
        if (misses > 0) {
            streak = 0;
        }
        misses++;
    }

    /** Returns whether the predicted box is finite. */
    boolean isValid() {
        Box box = box();
        return Double.isFinite(box.x1() + box.y1() + box.x2() + box.y2());
    }

    void miss() {
        if (isObserved) {
            frozen = Optional.of(filter.copy());
        }
        isObserved = false;
    }

    void update(Detection next) {
        if (!observations.isEmpty()) {
            setDirection(reference().box(), next.box());
        }
        if (!isObserved) {
            frozen.ifPresent(before -> reupdate(before, next.box()));
            frozen = Optional.empty();
        }
        filter.update(measurement(next.box()), NOISE);
        isObserved = true;
        detection = next;
        observations.addLast(new Observation(age, next.box()));
        while (observations.size() > 1 && observations.getFirst().age() < age - deltaT) {
            observations.removeFirst();
        }
        misses = 0;
        streak++;
    }

    /** Repeats the missed frames from a state, with detections on a line to the new detection. */
    private void reupdate(KalmanFilter before, Box next) {
        filter = before;
        Box last = observations.getLast().box();
        int gap = age - observations.getLast().age();
        for (int i = 1; i <= gap; i++) {
            double part = (double) i / gap;
            double width = mix(last.width(), next.width(), part);
            double height = mix(last.height(), next.height(), part);
            double x = mix(last.x1() + last.x2(), next.x1() + next.x2(), part) / 2;
            double y = mix(last.y1() + last.y2(), next.y1() + next.y2(), part) / 2;
            filter.update(new double[] {x, y, width * height, width / height}, NOISE);
            if (i < gap) {
                filter.predict(PROCESS);
            }
        }
    }

    private static double mix(double from, double to, double part) {
        return from + part * (to - from);
    }

    /** Returns the oldest detection of the last {@code deltaT} frames, or else the last one. */
    private Observation reference() {
        return observations.stream()
                .filter(each -> each.age() >= age - deltaT)
                .findFirst()
                .orElseGet(observations::getLast);
    }

    private void setDirection(Box from, Box to) {
        double dx = (to.x1() + to.x2() - from.x1() - from.x2()) / 2;
        double dy = (to.y1() + to.y2() - from.y1() - from.y2()) / 2;
        double length = Math.hypot(dx, dy) + EPSILON;
        directionX = dx / length;
        directionY = dy / length;
    }

    /** Returns the agreement of the motion to a box with the motion so far, -0.5 to 0.5. */
    double directionScore(Box box) {
        if (observations.isEmpty()) {
            return 0;
        }
        Box from = reference().box();
        double dx = (box.x1() + box.x2() - from.x1() - from.x2()) / 2;
        double dy = (box.y1() + box.y2() - from.y1() - from.y2()) / 2;
        double cosine = (directionX * dx + directionY * dy) / (Math.hypot(dx, dy) + EPSILON);
        double angle = Math.acos(Math.max(-1, Math.min(1, cosine)));
        return 0.5 - angle / Math.PI;
    }

    Detection detection() {
        return detection;
    }

    /** Returns the last detection where it was detected. */
    Candidate lastCandidate() {
        return new Candidate(detection.box(), detection);
    }

    /** Returns the number of frames since the last detection. */
    int misses() {
        return misses;
    }

    /** Returns the number of detections in a row. */
    int streak() {
        return streak;
    }

    /** Returns the filtered or, after {@link #predict}, predicted box. */
    Box box() {
        double[] mean = filter.mean;
        double width = Math.sqrt(mean[2] * mean[3]);
        double height = mean[2] / width;
        double left = mean[0] - width / 2;
        double top = mean[1] - height / 2;
        return new Box(left, top, left + width, top + height);
    }

    private static double[] measurement(Box box) {
        return new double[] {
            box.x1() + box.width() / 2,
            box.y1() + box.height() / 2,
            box.width() * box.height(),
            box.width() / (box.height() + EPSILON)
        };
    }
}
