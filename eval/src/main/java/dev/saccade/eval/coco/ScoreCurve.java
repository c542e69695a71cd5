package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableIntArray;

import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Which detections of a class are right at IoU .50, over the score from which one counts.
 *
 * @param name the name of the class
 * @param objects the number of objects to find; crowds do not count
 * @param right how many detections find an object that reach each of {@link #STEPS} + 1 scores,
 *     0.00, 0.01, ... 1.00
 * @param wrong likewise, how many find none
 */
public record ScoreCurve(
        String name, int objects, ImmutableIntArray right, ImmutableIntArray wrong) {

    /** A score has two digits: what is recommended can be typed, and does what it is said to do. */
    public static final int STEPS = 100;

    /**
     * A score, and how well objects are found by the detections that reach it.
     *
     * @param score from 0 to 1, in steps of 0.01
     * @param precision the share of these detections that find an object
     * @param recall the share of the objects that they find
     * @param f1 the harmonic mean of both
     */
    public record Point(double score, double precision, double recall, double f1) {}

    /** Returns the score of a step. */
    public static double score(int step) {
        return (double) step / STEPS;
    }

    /** Returns how well objects are found from a score on; 0 where there is nothing to count. */
    public Point at(int step) {
        double hits = right.get(step);
        double counted = hits + wrong.get(step);
        return new Point(
                score(step),
                counted > 0 ? hits / counted : 0,
                objects > 0 ? hits / objects : 0,
                counted + objects > 0 ? 2 * hits / (counted + objects) : 0);
    }

    /**
     * Returns where F1 is highest, of equals the highest score; nothing if there is no object of
     * the class, or none is found.
     */
    public Optional<Point> best() {
        return objects == 0
                ? Optional.empty()
                : best(IntStream.range(0, STEPS + 1).mapToObj(this::at).toList());
    }

    /** Returns the point with the highest F1, of equals the last; nothing if all are 0. */
    static Optional<Point> best(Iterable<Point> points) {
        Optional<Point> best = Optional.empty();
        for (Point point : points) {
            if (point.f1 > 0 && point.f1 >= best.map(Point::f1).orElse(0.0)) {
                best = Optional.of(point);
            }
        }
        return best;
    }
}
