package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Text;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurve.Point;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.report.Charts;
import dev.saccade.report.LineChart;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;
import dev.saccade.report.ShareTable;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The recommended score thresholds of a report. */
final class ScoreSection {

    private static final String NAME = "Score";

    private ScoreSection() {}

    /** Returns the score that is recommended for all classes. */
    static Fact recommended(Point best) {
        return new Fact(
                NAME,
                Text.format("%.2f", best.score()),
                Text.format(
                        "recommended; precision %.2f, recall %.2f",
                        best.precision(), best.recall()));
    }

    /** Returns the recommended score of each class, and F1 over the score. */
    static Section section(ScoreCurves curves) {
        String common =
                curves.common()
                        .map(
                                best ->
                                        Text.format(
                                                " The threshold with the highest mean F1 over all"
                                                        + " classes is %.2f.",
                                                best.score()))
                        .orElse("");
        return new Section(
                "Score thresholds",
                "The threshold of each class with the highest F1, the harmonic mean of precision"
                        + " and recall, for boxes with IoU ≥ 0.50. Classes without a correct"
                        + " detection have none."
                        + common,
                table(curves),
                new Charts(List.of(chart(curves))));
    }

    private static ShareTable table(ScoreCurves curves) {
        return new ShareTable(
                List.of("Class", "Objects", "Threshold", "Precision", "Recall", "F1"),
                curves.classes().stream().map(ScoreSection::row).toList(),
                true);
    }

    private static ShareTable.Row row(ScoreCurve curve) {
        Optional<Point> best = curve.best();
        return new ShareTable.Row(
                curve.name(),
                Text.format("%,d", curve.objects()),
                Stream.of(
                                best.map(Point::score),
                                best.map(Point::precision),
                                best.map(Point::recall),
                                best.map(Point::f1))
                        .map(value -> value.orElse(-1.0))
                        .toList());
    }

    private static LineChart chart(ScoreCurves curves) {
        ShownClasses shown =
                ShownClasses.of(curves.classes().stream().map(ScoreCurve::objects).toList());
        ImmutableList.Builder<LineChart.Series> series = ImmutableList.builder();
        for (int label : shown.labels()) {
            ScoreCurve curve = curves.classes().get(label);
            List<Point> points =
                    IntStream.rangeClosed(0, ScoreCurve.STEPS).mapToObj(curve::at).toList();
            series.add(series(curve.name(), points).ofClass(label));
        }
        series.add(series("mean over all classes", curves.mean()));
        return new LineChart(
                        shown.title("F1 by score threshold"), "score threshold", series.build())
                .inUnitSquare();
    }

    private static LineChart.Series series(String name, List<Point> points) {
        return LineChart.Series.of(
                name,
                points.stream().mapToDouble(Point::score).toArray(),
                points.stream().mapToDouble(Point::f1).toArray());
    }
}
