package dev.saccade.eval.classification;

import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.MetricReport;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.classification.ImageConfusionMatrix.ClassAccuracy;
import dev.saccade.eval.classification.ImageConfusionMatrix.Confusion;

import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Creates the metric report of a classification evaluation. */
public final class ClassificationReport {

    private static final int CONFUSIONS = 10;

    private ClassificationReport() {}

    /** Creates the report; {@code others} are metrics of other evaluators. */
    public static MetricReport of(
            ClassificationEvaluation evaluation, Map<String, Double> others, List<String> notes) {
        ImageConfusionMatrix confusion = evaluation.confusion();
        List<MetricTable> tables =
                List.of(MetricTable.of(evaluation.values()), perClass(confusion.perClass()));
        List<MetricTable> details =
                confusion.confusions().isEmpty()
                        ? List.of()
                        : List.of(confusions(confusion.confusions()));
        Map<String, Object> json =
                ImmutableMap.of(
                        "classes",
                        confusion.perClass().stream().map(ClassificationReport::json).toList(),
                        "confusion",
                        ImmutableMap.of(
                                "classes", confusion.classes(), "counts", confusion.counts()));
        return new MetricReport(tables, details, json, notes).with(evaluation.values(), others);
    }

    private static Map<String, Object> json(ClassAccuracy accuracy) {
        ImmutableMap.Builder<String, Object> json = ImmutableMap.builder();
        json.put("name", accuracy.name()).put("images", accuracy.images());
        Map.<String, Double>of(
                        "precision", accuracy.precision(),
                        "recall", accuracy.recall(),
                        "f1", accuracy.f1())
                .forEach(
                        (key, value) -> {
                            if (!Double.isNaN(value)) {
                                json.put(key, value);
                            }
                        });
        return json.buildOrThrow();
    }

    static MetricTable perClass(List<ClassAccuracy> classes) {
        return new MetricTable(
                        List.of("class", "images"),
                        classes.stream().map(c -> List.of(c.name(), "" + c.images())).toList())
                .with("precision", column(classes, ClassAccuracy::precision))
                .with("recall", column(classes, ClassAccuracy::recall))
                .with("F1", column(classes, ClassAccuracy::f1));
    }

    /** Returns a column; undefined values are negative. */
    private static Stream<Double> column(
            List<ClassAccuracy> classes, ToDoubleFunction<ClassAccuracy> value) {
        return classes.stream()
                .map(each -> value.applyAsDouble(each))
                .map(number -> number.isNaN() ? -1 : number);
    }

    private static MetricTable confusions(List<Confusion> all) {
        List<Confusion> most = all.stream().limit(CONFUSIONS).toList();
        return new MetricTable(
                        List.of("class"), most.stream().map(each -> List.of(each.truth())).toList())
                .withText("predicted as", most.stream().map(Confusion::predicted))
                .withText("images", most.stream().map(each -> "" + each.images()));
    }
}
