package dev.saccade.cli;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurve.Point;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.report.Charts;
import dev.saccade.report.LineChart;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;
import dev.saccade.report.ShareTable;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What a report says of the score from which objects should count. */
final class ScoreFigures {

    /** With the mean, as many curves as there are colors for them. */
    private static final int MOST_CURVES = 7;

    private ScoreFigures() {}

    /** Returns the score that is recommended for all classes. */
    static Fact recommended(Point best) {
        return new Fact(
                "Score",
                String.format(Locale.ROOT, "%.2f", best.score()),
                String.format(
                        Locale.ROOT,
                        "recommended; precision %.2f, recall %.2f",
                        best.precision(),
                        best.recall()));
    }

    /** Returns the recommended score of each class, and F1 over the score. */
    static Section section(ScoreCurves curves) {
        return new Section(
                "Scores",
                "The score from which objects of a class should count: where F1, the harmonic mean"
                        + " of precision and recall of boxes at IoU .50, is highest; of equal ones"
                        + " the highest. Classes of which nothing is found have none.",
                table(curves),
                new Charts(List.of(chart(curves))));
    }

    private static ShareTable table(ScoreCurves curves) {
        return new ShareTable(
                List.of("Class", "Objects", "score", "precision", "recall", "F1"),
                curves.classes().stream().map(ScoreFigures::row).toList(),
                true);
    }

    private static ShareTable.Row row(ScoreCurve curve) {
        Optional<Point> best = curve.best();
        return new ShareTable.Row(
                curve.name(),
                String.valueOf(curve.objects()),
                Stream.of(
                                best.map(Point::score),
                                best.map(Point::precision),
                                best.map(Point::recall),
                                best.map(Point::f1))
                        .map(value -> value.map(OptionalDouble::of).orElse(OptionalDouble.empty()))
                        .toList());
    }

    private static LineChart chart(ScoreCurves curves) {
        List<ScoreCurve> shown =
                curves.classes().stream()
                        .filter(curve -> curve.objects() > 0)
                        .sorted(Comparator.comparingInt(ScoreCurve::objects).reversed())
                        .limit(MOST_CURVES)
                        .toList();
        long all = curves.classes().stream().filter(curve -> curve.objects() > 0).count();
        ImmutableList.Builder<LineChart.Series> series = ImmutableList.builder();
        series.add(series("mean of all classes", curves.mean()));
        for (ScoreCurve curve : shown) {
            series.add(
                    series(
                            curve.name(),
                            IntStream.rangeClosed(0, ScoreCurve.STEPS)
                                    .mapToObj(curve::at)
                                    .toList()));
        }
        String title =
                all > shown.size()
                        ? "F1 over the score, of the %d most frequent of %d classes"
                                .formatted(shown.size(), all)
                        : "F1 over the score";
        return new LineChart(title, "score", series.build()).inUnitSquare();
    }

    private static LineChart.Series series(String name, List<Point> points) {
        return LineChart.Series.of(
                name,
                points.stream().mapToDouble(Point::score).toArray(),
                points.stream().mapToDouble(Point::f1).toArray());
    }
}
