package dev.saccade.report.runs;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.datasets.image.PixelFormat;
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
import dev.saccade.eval.labelerrors.LabelErrors;
import dev.saccade.eval.tide.DetectionError;
import dev.saccade.eval.tide.ErrorBreakdown;
import dev.saccade.report.Charts;
import dev.saccade.report.DetectionExample;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.FractionTable;
import dev.saccade.report.HeatMap;
import dev.saccade.report.LineChart;
import dev.saccade.report.Section;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Report sections of a detector: box metrics, and mask metrics if present. */
public final class DetectionSections {

    private static final int IOU_50 = 0;
    private static final int IOU_75 = 5;
    private static final LineChart.Range IOU_RANGE = new LineChart.Range(.5, .95);

    private DetectionSections() {}

    /**
     * Returns the headline, examples and sections of an evaluation.
     *
     * @param labelErrors suspected label errors of the data set
     * @param score score threshold if the evaluation recommends none
     * @param examples maximum number of example images
     * @param format channels and values of the images
     */
    public static TaskMetrics collect(
            Dataset dataset,
            DetectionEvaluation evaluation,
            LabelErrors labelErrors,
            double score,
            int examples,
            PixelFormat format) {
        List<CocoMetrics> metrics = evaluation.metrics();
        ScoreCurves scores = evaluation.boxes().scoreCurves();
        Optional<ScoreCurve.Point> best = scores.best();
        double threshold = best.map(ScoreCurve.Point::score).orElse(score);
        return new TaskMetrics(
                headline(metrics, best),
                examples(dataset, evaluation, threshold, examples, format),
                List.of(
                        new Section(
                                "Average precision",
                                "",
                                summary(metrics),
                                Charts.of(precision(metrics))),
                        ScoreSection.section(scores),
                        new Section(
                                "Error types",
                                "AP50 gained by fixing all errors of one type (TIDE,"
                                        + " Bolya et al. 2020). Counts include detections of any"
                                        + " score.",
                                errors(evaluation.errors())),
                        new Section(
                                Text.format("Confusion matrix (score ≥ %.2f)", threshold),
                                "Missed objects are in the column background, false positives in"
                                        + " the row background.",
                                confusion(evaluation.confusion(threshold))),
                        new Section("Per-class AP", "", classes(metrics)),
                        LabelErrorSection.of(
                                dataset, labelErrors, LabelErrorSection.IN_REPORT, format)));
    }

    private static List<Fact> headline(List<CocoMetrics> metrics, Optional<ScoreCurve.Point> best) {
        List<Fact> facts = new ArrayList<>();
        for (CocoMetrics measured : metrics) {
            for (SummaryRow row : measured.summary().subList(0, 3)) {
                facts.add(Fact.ofFraction(metric(measured, row.name()), row.value(), iou(row)));
            }
        }
        best.ifPresent(point -> facts.add(ScoreSection.recommended(point)));
        return facts;
    }

    private static Examples examples(
            Dataset dataset,
            DetectionEvaluation evaluation,
            double threshold,
            int count,
            PixelFormat format) {
        List<DetectionExample> all = new ArrayList<>();
        List<String> names = RelativeNames.of(dataset);
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile image = dataset.image(i);
            List<Annotation> annotations = dataset.annotations(i);
            Instances truth =
                    evaluation.metrics().size() > 1
                            ? TrainingTargets.masks(image, annotations)
                            : TrainingTargets.boxes(image, annotations);
            Instances predictions = evaluation.predictions().get(i);
            Instances crowds = TrainingTargets.crowds(image, annotations);
            all.add(
                    new DetectionExample(
                            names.get(i), image.size(), "", truth, crowds, predictions));
        }
        List<DetectionExample> shown = new ArrayList<>();
        for (int i : DetectionExample.select(all, count, threshold)) {
            String jpeg = ImageScaling.base64(dataset.image(i).file(), format);
            shown.add(all.get(i).withJpeg(jpeg));
        }
        return Examples.of(shown, dataset.classes(), threshold, all.size());
    }

    /** Returns the name of a metric, such as {@code Mask AP50}. */
    private static String metric(CocoMetrics measured, String name) {
        return (measured.parameters().iouType() == IouType.BOX ? "Box " : "Mask ") + name;
    }

    /** Describes the IoU thresholds of a metric: COCO's range or a minimum. */
    private static String iou(SummaryRow row) {
        return (row.iou().contains(":") ? "IoU " : "IoU ≥ ") + row.iou();
    }

    /** Returns COCO's summary, with a column for boxes and one for masks, if any. */
    private static FractionTable summary(List<CocoMetrics> metrics) {
        List<String> heads = new ArrayList<>(List.of("Metric", ""));
        metrics.forEach(m -> heads.add(metric(m, "").strip()));
        List<FractionTable.Row> rows = new ArrayList<>();
        for (int i = 0; i < metrics.get(0).summary().size(); i++) {
            int place = i;
            SummaryRow row = metrics.get(0).summary().get(i);
            String meaning =
                    Text.format(
                            "%s, area %s, maxDets %d",
                            iou(row), lowerCase(row.area()), row.maxDetections());
            List<Double> values =
                    metrics.stream().map(m -> m.summary().get(place).value()).toList();
            rows.add(new FractionTable.Row(row.name(), meaning, values));
        }
        return new FractionTable(heads, rows);
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Returns AP over IoU, and precision over recall at two IoU thresholds. */
    private static List<LineChart> precision(List<CocoMetrics> metrics) {
        return metrics.stream()
                .flatMap(m -> Stream.of(overIou(m), overRecall(m, IOU_50), overRecall(m, IOU_75)))
                .toList();
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
                        title,
                        "IoU threshold",
                        series,
                        Optional.of(IOU_RANGE),
                        Optional.empty(),
                        false)
                .withUnitYAxis();
    }

    private static LineChart overRecall(CocoMetrics metrics, int threshold) {
        double[] recall = CocoParameters.RECALL_THRESHOLDS.toArray();
        List<Integer> objects = metrics.perClass().stream().map(ClassMetrics::objects).toList();
        PlottedClasses shown = PlottedClasses.of(objects);
        List<PrecisionRecallCurve> curves = metrics.curves(threshold);
        List<LineChart.Series> series = new ArrayList<>();
        int present = 0;
        for (int label = 0; label < objects.size(); label++) {
            if (shown.labels().contains(label)) {
                PrecisionRecallCurve curve = curves.get(present);
                double[] precision = curve.precision().toArray();
                series.add(LineChart.Series.of(curve.name(), recall, precision).ofClass(label));
            }
            present += objects.get(label) > 0 ? 1 : 0;
        }
        double iou = CocoParameters.IOU_THRESHOLDS.get(threshold);
        String title = Text.format("%s, IoU ≥ %.2f", metric(metrics, "precision–recall"), iou);
        return new LineChart(shown.title(title), "recall", series).withUnitAxes();
    }

    /** Returns the AP50 gained by fixing each type of error. */
    private static FractionTable errors(List<ErrorBreakdown> breakdowns) {
        List<String> heads = new ArrayList<>(List.of("Type", "Count"));
        breakdowns.forEach(
                b ->
                        heads.add(
                                (b.iouType() == IouType.BOX ? "Box" : "Mask")
                                        + " AP50 gain if fixed"));
        List<FractionTable.Row> rows = new ArrayList<>();
        for (DetectionError error : DetectionError.values()) {
            long count = breakdowns.get(0).row(error).count();
            List<Double> gains = breakdowns.stream().map(b -> b.row(error).gain()).toList();
            String note = Text.format("%,d %s", count, meaning(error));
            rows.add(new FractionTable.Row(lowerCase(error), note, gains));
        }
        return new FractionTable(heads, rows);
    }

    private static String meaning(DetectionError error) {
        return switch (error) {
            case CLASSIFICATION -> "with the wrong class, IoU ≥ 0.50";
            case LOCALIZATION -> "with the right class, IoU 0.10–0.50";
            case BOTH -> "with the wrong class, IoU 0.10–0.50";
            case DUPLICATE -> "duplicates of detections with a higher score";
            case BACKGROUND -> "on background, IoU < 0.10";
            case MISSED -> "objects without a detection";
        };
    }

    private static HeatMap confusion(ConfusionMatrix matrix) {
        List<String> names = new ArrayList<>(matrix.classes());
        names.add("background");
        String title = "Boxes with IoU ≥ 0.50";
        List<List<Long>> counts =
                matrix.counts().stream()
                        .map(row -> row.stream().map(Integer::longValue).toList())
                        .toList();
        return new HeatMap(title, names, counts, false);
    }

    private static FractionTable classes(List<CocoMetrics> metrics) {
        List<String> heads = new ArrayList<>(List.of("Class", "Objects"));
        for (CocoMetrics m : metrics) {
            heads.addAll(List.of(metric(m, "AP"), metric(m, "AP50"), metric(m, "AP75")));
        }
        List<List<ClassMetrics>> measured = metrics.stream().map(CocoMetrics::perClass).toList();
        List<FractionTable.Row> rows = new ArrayList<>();
        for (int label = 0; label < measured.get(0).size(); label++) {
            ClassMetrics boxes = measured.get(0).get(label);
            List<Double> values = new ArrayList<>();
            for (List<ClassMetrics> classes : measured) {
                ClassMetrics p = classes.get(label);
                values.addAll(List.of(p.ap(), p.ap50(), p.ap75()));
            }
            rows.add(
                    new FractionTable.Row(
                            boxes.name(), Text.format("%,d", boxes.objects()), values));
        }
        return new FractionTable(heads, rows, true);
    }
}
