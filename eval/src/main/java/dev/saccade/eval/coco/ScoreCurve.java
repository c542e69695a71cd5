package dev.saccade.eval.coco;

import com.google.common.primitives.ImmutableIntArray;

import java.util.Optional;
import java.util.stream.IntStream;

/**
 * True and false positives of a class at IoU 0.50. Arrays have {@link #STEPS} + 1 values, for
 * minimum scores 0.00, 0.01, ... 1.00.
 */
public record ScoreCurve(
        String name,
        int objects,
        ImmutableIntArray truePositives,
        ImmutableIntArray falsePositives) {

    /** Number of score steps: 100, so that recommended scores have at most two decimals. */
    public static final int STEPS = 100;

    /** Precision, recall and F1 at a minimum score. */
    public record Point(double score, double precision, double recall, double f1) {}

    public static double score(int step) {
        return (double) step / STEPS;
    }

    /** Returns precision, recall and F1 at a step; 0 where undefined. */
    public Point at(int step) {
        double hits = truePositives.get(step);
        double counted = hits + falsePositives.get(step);
        return new Point(
                score(step),
                counted > 0 ? hits / counted : 0,
                objects > 0 ? hits / objects : 0,
                counted + objects > 0 ? 2 * hits / (counted + objects) : 0);
    }

    /** Returns the point with the highest F1, the last on ties; empty without true positives. */
    public Optional<Point> best() {
        return objects == 0
                ? Optional.empty()
                : best(IntStream.range(0, STEPS + 1).mapToObj(this::at).toList());
    }

    /** Returns the point with the highest F1, the last on ties; empty if all are 0. */
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
