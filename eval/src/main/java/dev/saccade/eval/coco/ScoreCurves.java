package dev.saccade.eval.coco;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.eval.coco.ScoreCurve.Point;
import dev.saccade.models.ScoreThresholds;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * F1 of each class by minimum score, to recommend score thresholds. Unlike Ultralytics' F1 curves,
 * neither interpolated nor smoothed.
 */
public record ScoreCurves(List<ScoreCurve> classes) {

    public ScoreCurves {
        classes = ImmutableList.copyOf(classes);
    }

    /**
     * Counts detections by score. {@code objects} has one element per class, all other arrays have
     * one per detection.
     */
    static ScoreCurves count(
            int[] labels,
            double[] scores,
            List<MatchStatus> matchStatuses,
            List<String> names,
            int[] objects) {
        int[][] right = new int[names.size()][ScoreCurve.STEPS + 1];
        int[][] wrong = new int[names.size()][ScoreCurve.STEPS + 1];
        for (int d = 0; d < labels.length; d++) {
            switch (matchStatuses.get(d)) {
                case TRUE_POSITIVE -> right[labels[d]][lastReached(scores[d])]++;
                case FALSE_POSITIVE -> wrong[labels[d]][lastReached(scores[d])]++;
                case IGNORED -> {}
            }
        }
        List<ScoreCurve> curves = new ArrayList<>();
        for (int k = 0; k < names.size(); k++) {
            curves.add(
                    new ScoreCurve(
                            names.get(k),
                            objects[k],
                            cumulativeFromTop(right[k]),
                            cumulativeFromTop(wrong[k])));
        }
        return new ScoreCurves(curves);
    }

    /** Returns the highest step whose minimum score the detection reaches. */
    private static int lastReached(double score) {
        int step = ScoreCurve.STEPS;
        while (step > 0 && ScoreCurve.score(step) > score) {
            step--;
        }
        return step;
    }

    private static ImmutableIntArray cumulativeFromTop(int[] counts) {
        for (int step = ScoreCurve.STEPS - 1; step >= 0; step--) {
            counts[step] += counts[step + 1];
        }
        return ImmutableIntArray.copyOf(counts);
    }

    /** Returns precision, recall and F1 at each score, averaged over classes with objects. */
    public List<Point> mean() {
        return IntStream.range(0, ScoreCurve.STEPS + 1).mapToObj(this::mean).toList();
    }

    private Point mean(int step) {
        List<Point> points =
                classes.stream().filter(c -> c.objects() > 0).map(c -> c.at(step)).toList();
        return new Point(
                ScoreCurve.score(step),
                mean(points, Point::precision),
                mean(points, Point::recall),
                mean(points, Point::f1));
    }

    private static double mean(List<Point> points, ToDoubleFunction<Point> value) {
        return points.stream().mapToDouble(value).average().orElse(0);
    }

    /**
     * Returns the point with the highest mean F1, on ties at the highest score; empty without true
     * positives.
     */
    public Optional<Point> best() {
        return ScoreCurve.best(mean());
    }

    /** Returns the {@linkplain #best best} overall score and the best score of each class. */
    public Optional<ScoreThresholds> thresholds() {
        ImmutableMap.Builder<String, Double> perClass = ImmutableMap.builder();
        for (ScoreCurve curve : classes) {
            curve.best().ifPresent(best -> perClass.put(curve.name(), best.score()));
        }
        return best().map(best -> new ScoreThresholds(best.score(), perClass.buildKeepingLast()));
    }
}
