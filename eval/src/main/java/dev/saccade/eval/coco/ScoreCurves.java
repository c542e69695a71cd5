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
 * From which score detections should count: where the F1 score is highest, of each class and of all
 * together, as in Ultralytics' curves of F1, but counted at each score and not smoothed.
 *
 * @param classes the curves of all classes, in the order of their labels
 */
public record ScoreCurves(List<ScoreCurve> classes) {

    /** Keeps a copy of the list. */
    public ScoreCurves {
        classes = ImmutableList.copyOf(classes);
    }

    /**
     * Counts detections by their score.
     *
     * @param labels the class of each detection
     * @param scores likewise
     * @param verdicts likewise, what has become of it
     * @param names of the classes
     * @param objects the number of objects of each class
     */
    static ScoreCurves count(
            int[] labels,
            double[] scores,
            List<Verdict> verdicts,
            List<String> names,
            int[] objects) {
        int[][] right = new int[names.size()][ScoreCurve.STEPS + 1];
        int[][] wrong = new int[names.size()][ScoreCurve.STEPS + 1];
        for (int d = 0; d < labels.length; d++) {
            switch (verdicts.get(d)) {
                case TRUE_POSITIVE -> right[labels[d]][lastReached(scores[d])]++;
                case FALSE_POSITIVE -> wrong[labels[d]][lastReached(scores[d])]++;
                case IGNORED -> {}
            }
        }
        List<ScoreCurve> curves = new ArrayList<>();
        for (int k = 0; k < names.size(); k++) {
            curves.add(
                    new ScoreCurve(
                            names.get(k), objects[k], fromAbove(right[k]), fromAbove(wrong[k])));
        }
        return new ScoreCurves(curves);
    }

    /** Returns the last step whose score is not above a detection's. */
    private static int lastReached(double score) {
        int step = ScoreCurve.STEPS;
        while (step > 0 && ScoreCurve.score(step) > score) {
            step--;
        }
        return step;
    }

    private static ImmutableIntArray fromAbove(int[] counts) {
        for (int step = ScoreCurve.STEPS - 1; step >= 0; step--) {
            counts[step] += counts[step + 1];
        }
        return ImmutableIntArray.copyOf(counts);
    }

    /**
     * Returns the means over the classes that have an object to find, of precision, recall and F1
     * at each score; all 0 if there is no such class.
     */
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
     * Returns the score at which the mean of F1 over the classes is highest, of equals the highest;
     * nothing if no object is found.
     */
    public Optional<Point> common() {
        return ScoreCurve.best(mean());
    }

    /** Returns the {@linkplain #common common} score and the best score of each class. */
    public Optional<ScoreThresholds> thresholds() {
        ImmutableMap.Builder<String, Double> perClass = ImmutableMap.builder();
        for (ScoreCurve curve : classes) {
            curve.best().ifPresent(best -> perClass.put(curve.name(), best.score()));
        }
        return common().map(best -> new ScoreThresholds(best.score(), perClass.buildKeepingLast()));
    }
}
