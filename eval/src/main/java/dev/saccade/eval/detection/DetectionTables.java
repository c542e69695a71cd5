package dev.saccade.eval.detection;

import dev.saccade.core.Text;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.coco.AreaRange;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.eval.coco.SummaryRow;
import dev.saccade.eval.detection.ConfusionMatrix.Confusion;
import dev.saccade.eval.tide.DetectionError;
import dev.saccade.eval.tide.ErrorBreakdown;
import dev.saccade.eval.tide.ErrorBreakdown.Row;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Detection metrics as text tables. */
public final class DetectionTables {

    private DetectionTables() {}

    /** Returns COCO's summary metrics, with a column for boxes and, if evaluated, for masks. */
    public static MetricTable summary(List<CocoMetrics> metrics) {
        List<List<String>> rows = new ArrayList<>();
        for (SummaryRow row : metrics.get(0).summary()) {
            rows.add(
                    List.of(
                            row.name(),
                            row.iou(),
                            row.area().name().toLowerCase(Locale.ROOT),
                            String.valueOf(row.maxDetections())));
        }
        MetricTable table = new MetricTable(List.of("metric", "IoU", "area", "detections"), rows);
        for (CocoMetrics result : metrics) {
            String head = result.parameters().iouType().name().toLowerCase(Locale.ROOT);
            table = table.with(head, result.summary().stream().map(SummaryRow::value));
        }
        return table;
    }

    /** Returns the average precision of each class, of boxes and, if evaluated, of masks. */
    public static MetricTable perClass(List<CocoMetrics> metrics) {
        List<List<String>> rows = new ArrayList<>();
        for (ClassMetrics row : metrics.get(0).perClass()) {
            rows.add(List.of(row.name(), String.valueOf(row.objects())));
        }
        MetricTable table = new MetricTable(List.of("class", "objects"), rows);
        for (CocoMetrics result : metrics) {
            List<ClassMetrics> classes = result.perClass();
            String head = result.parameters().iouType().prefix() + "AP";
            table =
                    table.with(head, classes.stream().map(ClassMetrics::ap))
                            .with(head + "50", classes.stream().map(ClassMetrics::ap50))
                            .with(head + "75", classes.stream().map(ClassMetrics::ap75))
                            .with(head + "s", classes.stream().map(ClassMetrics::apSmall))
                            .with(head + "m", classes.stream().map(ClassMetrics::apMedium))
                            .with(head + "l", classes.stream().map(ClassMetrics::apLarge));
        }
        return table;
    }

    /** Returns the best score overall and per class, with precision, recall and F1 at IoU 0.50. */
    public static MetricTable scores(ScoreCurves curves) {
        List<List<String>> rows = new ArrayList<>();
        List<Optional<ScoreCurve.Point>> best = new ArrayList<>();
        rows.add(List.of("all classes"));
        best.add(curves.best());
        for (ScoreCurve curve : curves.classes()) {
            rows.add(List.of(curve.name()));
            best.add(curve.best());
        }
        return new MetricTable(List.of("class"), rows)
                .withText("score", best.stream().map(DetectionTables::score))
                .with("precision", values(best, ScoreCurve.Point::precision))
                .with("recall", values(best, ScoreCurve.Point::recall))
                .with("F1", values(best, ScoreCurve.Point::f1));
    }

    private static String score(Optional<ScoreCurve.Point> best) {
        return best.map(point -> Text.format("%.2f", point.score())).orElse("n/a");
    }

    private static Stream<Double> values(
            List<Optional<ScoreCurve.Point>> best, Function<ScoreCurve.Point, Double> value) {
        return best.stream().map(point -> point.map(value).orElse(-1.0));
    }

    /** Returns the average precision at each IoU threshold and object size. */
    public static MetricTable perThreshold(List<CocoMetrics> metrics) {
        List<List<String>> rows =
                CocoParameters.IOU_THRESHOLDS.stream()
                        .mapToObj(iou -> List.of(Text.format("%.2f", iou)))
                        .toList();
        MetricTable table = new MetricTable(List.of("IoU"), rows);
        for (CocoMetrics result : metrics) {
            for (AreaRange area : AreaRange.values()) {
                String head = result.parameters().iouType().prefix() + "AP" + area.suffix();
                IntStream thresholds = IntStream.range(0, rows.size());
                table = table.with(head, thresholds.mapToObj(t -> result.ap(t, area)));
            }
        }
        return table;
    }

    /** Returns the count of each error type and the AP50 gained by fixing it. */
    public static MetricTable errors(List<ErrorBreakdown> breakdowns) {
        List<List<String>> rows =
                Arrays.stream(DetectionError.values())
                        .map(error -> List.of(error.name().toLowerCase(Locale.ROOT)))
                        .toList();
        MetricTable table = new MetricTable(List.of("error"), rows);
        for (ErrorBreakdown breakdown : breakdowns) {
            String prefix = breakdown.iouType().prefix();
            List<Row> errors = breakdown.rows();
            table =
                    table.withText(prefix + "count", errors.stream().map(row -> "" + row.count()))
                            .with("+" + prefix + "AP50", errors.stream().map(Row::gain));
        }
        return table;
    }

    /** Returns the {@code most} most frequent pairs of confused classes. */
    public static MetricTable confusions(ConfusionMatrix matrix, int most) {
        List<Confusion> confusions = matrix.confusions().stream().limit(most).toList();
        return new MetricTable(
                        List.of("class"),
                        confusions.stream().map(confusion -> List.of(confusion.object())).toList())
                .withText("predicted as", confusions.stream().map(Confusion::detection))
                .withText("count", confusions.stream().map(confusion -> "" + confusion.count()));
    }
}
