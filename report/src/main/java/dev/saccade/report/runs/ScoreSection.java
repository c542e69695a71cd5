package dev.saccade.report.runs;

import dev.saccade.core.Text;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurve.Point;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.report.Charts;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.FractionTable;
import dev.saccade.report.LineChart;
import dev.saccade.report.Section;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

final class ScoreSection {

    private static final List<String> HEADS =
            List.of("Class", "Objects", "Threshold", "Precision", "Recall", "F1");

    private static final List<Double> UNDEFINED = List.of(-1.0, -1.0, -1.0, -1.0);

    private static final String COMMON =
            " Threshold with the highest mean F1 over all classes: %.2f.";

    private ScoreSection() {}

    /** Returns the recommended common threshold of all classes, with precision and recall. */
    static Fact recommended(Point best) {
        return new Fact(
                "Score threshold",
                Text.format("%.2f", best.score()),
                Text.format(
                        "best F1; precision %.2f, recall %.2f", best.precision(), best.recall()));
    }

    /** Returns a section with the recommended threshold of each class and curves of F1. */
    static Section section(ScoreCurves curves) {
        String common = curves.best().map(best -> Text.format(COMMON, best.score())).orElse("");
        List<FractionTable.Row> rows = new ArrayList<>();
        for (ScoreCurve curve : curves.classes()) {
            List<Double> values =
                    curve.best()
                            .map(b -> List.of(b.score(), b.precision(), b.recall(), b.f1()))
                            .orElse(UNDEFINED);
            rows.add(
                    new FractionTable.Row(
                            curve.name(), Text.format("%,d", curve.objects()), values));
        }
        return new Section(
                "Score thresholds",
                "Recommended minimum score of each class: the threshold with the"
                        + " highest F1 at IoU ≥ 0.50. Classes without a correct detection have"
                        + " none."
                        + common,
                new FractionTable(HEADS, rows, true),
                new Charts(List.of(chart(curves))));
    }

    private static LineChart chart(ScoreCurves curves) {
        PlottedClasses shown =
                PlottedClasses.of(curves.classes().stream().map(ScoreCurve::objects).toList());
        List<LineChart.Series> series = new ArrayList<>();
        for (int label : shown.labels()) {
            ScoreCurve curve = curves.classes().get(label);
            List<Point> points =
                    IntStream.rangeClosed(0, ScoreCurve.STEPS).mapToObj(curve::at).toList();
            series.add(series(curve.name(), points).ofClass(label));
        }
        series.add(series("mean over all classes", curves.mean()));
        return new LineChart(shown.title("F1 by score threshold"), "score threshold", series)
                .withUnitAxes();
    }

    private static LineChart.Series series(String name, List<Point> points) {
        return LineChart.Series.of(
                name,
                points.stream().mapToDouble(Point::score).toArray(),
                points.stream().mapToDouble(Point::f1).toArray());
    }
}
