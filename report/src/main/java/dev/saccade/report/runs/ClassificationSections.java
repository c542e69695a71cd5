package dev.saccade.report.runs;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.eval.classification.ClassificationEvaluation;
import dev.saccade.eval.classification.ImageConfusionMatrix;
import dev.saccade.eval.classification.ImageConfusionMatrix.ClassAccuracy;
import dev.saccade.report.ClassificationExample;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.FractionTable;
import dev.saccade.report.Gallery;
import dev.saccade.report.HeatMap;
import dev.saccade.report.Section;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Report sections of a classifier. */
public final class ClassificationSections {

    private static final int MISTAKES = 24;
    private static final int MAX_HEAT_MAP = 60;
    private static final int CONFUSIONS = 20;

    private static final Map<String, String> MEANINGS =
            ImmutableMap.of(
                    "top1", "fraction of images whose best class is correct",
                    "top5", "fraction of images whose class is among the best five",
                    "ece", "expected calibration error, lower is better");

    private ClassificationSections() {}

    /** Returns headline, examples and sections. */
    public static TaskMetrics collect(
            Dataset dataset,
            ClassificationEvaluation evaluation,
            int examples,
            PixelFormat format) {
        Map<String, Double> values = evaluation.values();
        List<Fact> headline = new ArrayList<>();
        List<FractionTable.Row> rows = new ArrayList<>();
        values.forEach(
                (name, value) -> {
                    headline.add(Fact.ofFraction(name, value, MEANINGS.get(name)));
                    rows.add(new FractionTable.Row(name, MEANINGS.get(name), List.of(value)));
                });
        ImageConfusionMatrix confusion = evaluation.confusion();
        return new TaskMetrics(
                headline,
                examples(dataset, evaluation, examples, format),
                List.of(
                        new Section(
                                "Classification metrics",
                                "",
                                new FractionTable(List.of("Metric", "", "Value"), rows)),
                        mistakes(dataset, evaluation, format),
                        confusions(confusion),
                        new Section("Per-class metrics", "", classes(confusion.perClass()))));
    }

    private static Section mistakes(
            Dataset dataset, ClassificationEvaluation evaluation, PixelFormat format) {
        List<String> names = RelativeNames.of(dataset);
        List<Gallery.Picture> pictures =
                IntStream.range(0, dataset.size())
                        .filter(i -> !isCorrect(evaluation, i))
                        .boxed()
                        .sorted(Comparator.comparingDouble(i -> -confidence(evaluation, i)))
                        .limit(MISTAKES)
                        .map(i -> picture(names.get(i), dataset.image(i), format, evaluation, i))
                        .toList();
        return new Section(
                "Most confident mistakes",
                "Check the labels of these images first.",
                new Gallery(pictures));
    }

    private static Gallery.Picture picture(
            String name,
            ImageFile image,
            PixelFormat format,
            ClassificationEvaluation evaluation,
            int index) {
        return new Gallery.Picture(
                ImageScaling.base64(image.file(), format),
                image.size().width(),
                image.size().height(),
                List.of(),
                name,
                List.of(
                        "label: " + truth(evaluation, index),
                        Text.format(
                                "predicted: %s (%.2f)",
                                predicted(evaluation, index), confidence(evaluation, index))));
    }

    private static boolean isCorrect(ClassificationEvaluation evaluation, int index) {
        return evaluation.predictions().get(index).best() == evaluation.truth().get(index);
    }

    private static double confidence(ClassificationEvaluation evaluation, int index) {
        return evaluation.predictions().get(index).confidence();
    }

    private static String truth(ClassificationEvaluation evaluation, int index) {
        return evaluation.classes().get(evaluation.truth().get(index));
    }

    private static String predicted(ClassificationEvaluation evaluation, int index) {
        return evaluation.classes().get(evaluation.predictions().get(index).best());
    }

    private static Section confusions(ImageConfusionMatrix confusion) {
        List<FractionTable.Row> rows = new ArrayList<>();
        List<ClassAccuracy> perClass = confusion.perClass();
        confusion.confusions().stream()
                .limit(CONFUSIONS)
                .forEach(
                        pair -> {
                            int label = confusion.classes().indexOf(pair.truth());
                            double all = perClass.get(label).images();
                            rows.add(
                                    new FractionTable.Row(
                                            pair.truth(),
                                            Text.format(
                                                    "%s (%s)",
                                                    pair.predicted(),
                                                    Count.of(pair.images(), "image")),
                                            List.of(pair.images() / all)));
                        });
        FractionTable table =
                new FractionTable(List.of("Ground truth", "Predicted as", "Fraction"), rows);
        String lead = "The most frequent confusions, as a fraction of the images of the class.";
        if (confusion.classes().size() > MAX_HEAT_MAP) {
            return new Section("Confusion matrix", lead, table);
        }
        List<List<Long>> counts =
                confusion.counts().stream()
                        .map(row -> row.stream().map(Integer::longValue).toList())
                        .toList();
        return new Section(
                "Confusion matrix",
                lead,
                table,
                new HeatMap("Confusion matrix, images", confusion.classes(), counts, false));
    }

    private static FractionTable classes(List<ClassAccuracy> classes) {
        List<FractionTable.Row> rows = new ArrayList<>();
        for (ClassAccuracy each : classes) {
            List<Double> values =
                    List.of(defined(each.precision()), defined(each.recall()), defined(each.f1()));
            rows.add(new FractionTable.Row(each.name(), Text.format("%,d", each.images()), values));
        }
        return new FractionTable(
                List.of("Class", "Images", "Precision", "Recall", "F1"), rows, true);
    }

    /** Returns a value, negative if undefined. */
    private static double defined(double value) {
        return Double.isNaN(value) ? -1 : value;
    }

    private static Examples examples(
            Dataset dataset, ClassificationEvaluation evaluation, int count, PixelFormat format) {
        List<String> names = RelativeNames.of(dataset);
        Comparator<Integer> worstFirst =
                Comparator.comparingDouble(
                        i ->
                                isCorrect(evaluation, i)
                                        ? confidence(evaluation, i)
                                        : -confidence(evaluation, i));
        List<ClassificationExample> examples =
                Examples.select(dataset.size(), count, worstFirst).stream()
                        .map(
                                i ->
                                        new ClassificationExample(
                                                names.get(i),
                                                ImageScaling.base64(
                                                        dataset.image(i).file(), format),
                                                truth(evaluation, i),
                                                predicted(evaluation, i),
                                                confidence(evaluation, i)))
                        .toList();
        return Examples.of(examples, dataset.classes(), 0, dataset.size());
    }
}
