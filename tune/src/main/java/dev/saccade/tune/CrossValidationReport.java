package dev.saccade.tune;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.bootstrap.Bootstrap.Interval;
import dev.saccade.eval.labelerrors.LabelErrors;
import dev.saccade.eval.labelerrors.LabelErrorsFile;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.Report;
import dev.saccade.report.Section;
import dev.saccade.report.TextTable;
import dev.saccade.report.runs.LabelErrorSection;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes {@code metrics.json}, suspected label errors and {@code report.html}. */
record CrossValidationReport(
        RunConfig config,
        Dataset dataset,
        List<JobResult> results,
        Map<String, CrossValidation.FoldMetric> metrics,
        Interval pooled,
        Optional<LabelErrors> labelErrors) {

    private static final int SHOWN_ERRORS = 100;

    /** Writes the files; returns the report. */
    Path write(Path folder) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("folds", results.stream().map(JobResult::metrics).toList());
        json.put("metrics", metrics);
        json.put("pooled", Map.of(config.monitor(), pooled));
        TuneJson.write(folder.resolve("metrics.json"), json);
        labelErrors.ifPresent(
                errors ->
                        AtomicFile.write(
                                folder.resolve(LabelErrorsFile.NAME),
                                LabelErrorsFile.json(errors, dataset)));
        Path file = folder.resolve("report.html");
        CrossValidation.FoldMetric main = metrics.get(config.monitor());
        new Report(
                        "Cross-validation",
                        Text.format(
                                "%s of %s of %s.",
                                Count.of(results.size(), "fold"),
                                Count.of(dataset.size(), "image"),
                                config.data().root()),
                        List.of(
                                new Fact(
                                        config.monitor(),
                                        text(main),
                                        "mean ± standard deviation over folds"),
                                new Fact(
                                        "pooled " + config.monitor(),
                                        Text.format("%.3f", pooled.value()),
                                        Text.format(
                                                "95 %% interval %.3f to %.3f",
                                                pooled.low(), pooled.high()))),
                        sections())
                .write(file);
        return file;
    }

    private List<Section> sections() {
        List<Section> sections = new ArrayList<>();
        sections.add(
                new Section(
                        "Metrics",
                        "Each run is evaluated on the images of its fold, with its last weights.",
                        metricsTable()));
        labelErrors
                .map(
                        errors ->
                                LabelErrorSection.of(
                                        dataset, errors, SHOWN_ERRORS, config.data().pixels()))
                .ifPresent(sections::add);
        return sections;
    }

    private TextTable metricsTable() {
        List<String> heads = new ArrayList<>(List.of("Metric", "Mean ± standard deviation"));
        for (int fold = 0; fold < results.size(); fold++) {
            heads.add("Fold " + fold);
        }
        return new TextTable(heads, metrics.keySet().stream().map(this::row).toList());
    }

    private List<String> row(String name) {
        List<String> row = new ArrayList<>(List.of(name, text(metrics.get(name))));
        for (JobResult result : results) {
            Double value = result.metrics().get(name);
            row.add(value == null ? "" : Text.format("%.3f", value));
        }
        return row;
    }

    /** Returns the mean and the standard deviation over the folds. */
    static String text(CrossValidation.FoldMetric metric) {
        return Text.format("%.3f ± %.3f", metric.mean(), metric.standardDeviation());
    }
}
