package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.eval.coco.AreaRange;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.PrecisionRecallCurve;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.eval.coco.SummaryRow;
import dev.saccade.eval.detection.ConfusionMatrix;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.tide.DetectionError;
import dev.saccade.eval.tide.ErrorBreakdown;
import dev.saccade.report.Charts;
import dev.saccade.report.DetectionExample;
import dev.saccade.report.Examples;
import dev.saccade.report.HeatMap;
import dev.saccade.report.LineChart;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;
import dev.saccade.report.ShareTable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The metrics of a detector in a report; those of masks are beside those of boxes. */
public final class DetectionSections {

    private static final int IOU_50 = 0;
    private static final int IOU_75 = 5;
    private static final LineChart.Range REACH = new LineChart.Range(.5, .95);

    private DetectionSections() {}

    /**
     * Returns the metrics of an evaluation.
     *
     * @param dataset validation set
     * @param score initial minimum score, if none can be recommended
     * @param examples maximum number of images to show
     */
    public static TaskMetrics collect(
            Dataset dataset, DetectionEvaluation evaluation, double score, int examples) {
        List<CocoMetrics> metrics = evaluation.metrics();
        ScoreCurves scores = evaluation.boxes().scoreCurves();
        Optional<ScoreCurve.Point> best = scores.common();
        double threshold = best.map(ScoreCurve.Point::score).orElse(score);
        List<DetectionExample> all = examples(dataset, evaluation);
        return new TaskMetrics(
                headline(metrics, best),
                Examples.of(
                        DetectionExample.select(all, examples, threshold),
                        dataset.classes(),
                        threshold,
                        all.size()),
                List.of(
                        new Section(
                                "Average precision",
                                "",
                                summary(metrics),
                                new Charts(precision(metrics))),
                        ScoreSection.section(scores),
                        new Section(
                                "Error types",
                                "The AP50 gained by fixing all errors of one type (TIDE). Counts"
                                        + " include detections of any score.",
                                errors(evaluation.errors())),
                        new Section(
                                "Confusion matrix",
                                "Missed objects are in the column background, false positives in"
                                        + " the row background.",
                                confusion(evaluation.confusion(threshold))),
                        new Section("Per-class AP", "", classes(metrics))));
    }

    private static List<Fact> headline(List<CocoMetrics> metrics, Optional<ScoreCurve.Point> best) {
        ImmutableList.Builder<Fact> facts = ImmutableList.builder();
        for (CocoMetrics measured : metrics) {
            for (SummaryRow row : measured.summary().subList(0, 3)) {
                facts.add(Fact.ofShare(metric(measured, row.name()), row.value(), iou(row)));
            }
        }
        best.ifPresent(point -> facts.add(ScoreSection.recommended(point)));
        return facts.build();
    }

    private static List<DetectionExample> examples(
            Dataset dataset, DetectionEvaluation evaluation) {
        List<DetectionExample> examples = new ArrayList<>();
        List<String> names = RelativeNames.of(dataset);
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile photo = dataset.image(i);
            List<Annotation> annotations = dataset.annotations(i);
            Instances truth =
                    evaluation.metrics().size() > 1
                            ? TrainingTargets.masks(photo, annotations)
                            : TrainingTargets.boxes(photo, annotations);
            examples.add(
                    new DetectionExample(
                            names.get(i),
                            photo.size(),
                            ImageScaling.jpeg(photo.file()),
                            truth,
                            evaluation.predictions().get(i)));
        }
        return examples;
    }

    /** Returns the name of a metric, such as {@code Mask AP50}. */
    private static String metric(CocoMetrics measured, String name) {
        return switch (measured.parameters().iouType()) {
            case BOX -> "Box " + name;
            case MASK -> "Mask " + name;
        };
    }

    /** Returns the IoU thresholds of a metric: COCO's range, or a minimum. */
    private static String iou(SummaryRow row) {
        return (row.iou().contains(":") ? "IoU " : "IoU ≥ ") + row.iou();
    }

    /** Returns the 12 numbers of COCO's summary. */
    private static ShareTable summary(List<CocoMetrics> metrics) {
        List<SummaryRow> boxes = metrics.get(0).summary();
        List<ShareTable.Row> rows = new ArrayList<>();
        for (int i = 0; i < boxes.size(); i++) {
            SummaryRow row = boxes.get(i);
            int place = i;
            rows.add(
                    new ShareTable.Row(
                            row.name(),
                            Text.format(
                                    "%s, %s objects, max. %d detections",
                                    iou(row), lowerCase(row.area()), row.maxDetections()),
                            metrics.stream().map(m -> m.summary().get(place).value()).toList()));
        }
        return new ShareTable(
                Stream.concat(
                                Stream.of("Metric", ""),
                                metrics.stream().map(m -> metric(m, "").strip()))
                        .toList(),
                rows);
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Returns average precision over IoU, and precision over recall at two IoU thresholds. */
    private static List<LineChart> precision(List<CocoMetrics> metrics) {
        ImmutableList.Builder<LineChart> charts = ImmutableList.builder();
        for (CocoMetrics measured : metrics) {
            charts.add(overIou(measured));
            charts.add(overRecall(measured, IOU_50));
            charts.add(overRecall(measured, IOU_75));
        }
        return charts.build();
    }

    private static LineChart overIou(CocoMetrics metrics) {
        double[] ious = CocoParameters.IOU_THRESHOLDS.toArray();
        List<LineChart.Series> series = new ArrayList<>();
        for (AreaRange area : AreaRange.values()) {
            double[] values =
                    IntStream.range(0, ious.length).mapToDouble(t -> metrics.ap(t, area)).toArray();
            if (Arrays.stream(values).allMatch(value -> value >= 0)) {
                series.add(LineChart.Series.of(lowerCase(area), ious, values));
            }
        }
        String title = metric(metrics, "AP by IoU threshold and object size");
        return new LineChart(
                        title, "IoU threshold", series, Optional.of(REACH), Optional.empty(), false)
                .ofShares();
    }

    private static LineChart overRecall(CocoMetrics metrics, int threshold) {
        double[] recall = CocoParameters.RECALL_THRESHOLDS.toArray();
        List<Integer> objects = metrics.perClass().stream().map(ClassMetrics::objects).toList();
        ShownClasses shown = ShownClasses.of(objects);
        List<Integer> present =
                IntStream.range(0, objects.size()).filter(k -> objects.get(k) > 0).boxed().toList();
        List<PrecisionRecallCurve> curves = metrics.curves(threshold);
        List<LineChart.Series> series = new ArrayList<>();
        for (int label : shown.labels()) {
            PrecisionRecallCurve curve = curves.get(present.indexOf(label));
            series.add(
                    LineChart.Series.of(curve.name(), recall, curve.precision().toArray())
                            .ofClass(label));
        }
        double iou = CocoParameters.IOU_THRESHOLDS.get(threshold);
        String title = Text.format("%s, IoU ≥ %.2f", metric(metrics, "precision–recall"), iou);
        return new LineChart(shown.title(title), "recall", series).inUnitSquare();
    }

    /** Returns the AP50 gained by fixing each type of error. */
    private static ShareTable errors(List<ErrorBreakdown> breakdowns) {
        List<ShareTable.Row> rows = new ArrayList<>();
        for (DetectionError error : DetectionError.values()) {
            List<ErrorBreakdown.Row> measured = breakdowns.stream().map(b -> b.row(error)).toList();
            rows.add(
                    new ShareTable.Row(
                            lowerCase(error),
                            Text.format("%,d %s", measured.get(0).count(), meaning(error)),
                            measured.stream().map(ErrorBreakdown.Row::gain).toList()));
        }
        List<String> heads = new ArrayList<>(List.of("Type", "Count"));
        breakdowns.forEach(
                b -> heads.add((b.iouType() == IouType.BOX ? "Box" : "Mask") + " AP50 gain"));
        return new ShareTable(heads, rows);
    }

    private static String meaning(DetectionError error) {
        return switch (error) {
            case CLASSIFICATION -> "with the wrong class, IoU ≥ 0.50";
            case LOCALIZATION -> "with the right class, IoU 0.10–0.50";
            case BOTH -> "with the wrong class, IoU 0.10–0.50";
            case DUPLICATE -> "of objects detected with a higher score";
            case BACKGROUND -> "on background, IoU < 0.10";
            case MISSED -> "objects without a detection";
        };
    }

    private static HeatMap confusion(ConfusionMatrix matrix) {
        List<String> names = new ArrayList<>(matrix.classes());
        names.add("background");
        String title = Text.format("Boxes with score ≥ %.2f and IoU ≥ 0.50", matrix.score());
        List<List<Long>> counts =
                matrix.counts().stream()
                        .map(row -> row.stream().map(Integer::longValue).toList())
                        .toList();
        return new HeatMap(title, names, counts, false);
    }

    private static ShareTable classes(List<CocoMetrics> metrics) {
        List<List<ClassMetrics>> measured = metrics.stream().map(CocoMetrics::perClass).toList();
        List<ShareTable.Row> rows = new ArrayList<>();
        for (int i = 0; i < measured.get(0).size(); i++) {
            int label = i;
            ClassMetrics boxes = measured.get(0).get(i);
            rows.add(
                    new ShareTable.Row(
                            boxes.name(),
                            Text.format("%,d", boxes.objects()),
                            measured.stream()
                                    .map(classes -> classes.get(label))
                                    .map(ClassMetrics::precision)
                                    .flatMap(p -> Stream.of(p.ap(), p.ap50(), p.ap75()))
                                    .toList()));
        }
        List<String> heads = new ArrayList<>(List.of("Class", "Objects"));
        for (CocoMetrics m : metrics) {
            heads.addAll(List.of(metric(m, "AP"), metric(m, "AP50"), metric(m, "AP75")));
        }
        return new ShareTable(heads, rows, true);
    }
}
