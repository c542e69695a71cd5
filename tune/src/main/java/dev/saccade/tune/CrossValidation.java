package dev.saccade.tune;

import com.google.common.math.Stats;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.bootstrap.Bootstrap;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.labelerrors.LabelErrors;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Trains a config once per fold of {@code data.train}, and evaluates each run on the images that it
 * has not seen. Each run is evaluated with its last weights; {@code data.val} is not used.
 *
 * <pre>{@code
 * CrossValidation.Settings settings = new CrossValidation.Settings(5, 0, 1);
 * new CrossValidation(config, settings, new LocalJobs(2, 1), System.out::println)
 *         .run(Path.of("runs/crossval/cells"), false);
 * }</pre>
 */
public final class CrossValidation {

    private static final String OUT_OF_FOLD = "out_of_fold";

    private final RunConfig config;
    private final Settings settings;
    private final JobRunner runner;
    private final Consumer<String> progress;

    /**
     * Settings of a cross-validation.
     *
     * @param seed of the split
     * @param threads CPU threads of each run, which may change the rounding of results
     */
    public record Settings(int folds, long seed, int threads) {}

    /** Mean and sample standard deviation of a metric over the folds. */
    public record FoldMetric(double mean, double standardDeviation) {}

    /**
     * Results of all folds.
     *
     * @param metrics metrics over the folds by name
     * @param pooled the monitored metric over the out-of-fold predictions of all images
     * @param report the file {@code report.html}
     */
    public record Result(Map<String, FoldMetric> metrics, Bootstrap.Interval pooled, Path report) {

        /** Returns the metrics as lines of text. */
        public String summary() {
            StringBuilder lines = new StringBuilder();
            metrics.forEach(
                    (name, metric) ->
                            lines.append(
                                    Text.format(
                                            "%-16s %s%n",
                                            name, CrossValidationReport.text(metric))));
            return lines.append(Text.format("%-16s %s", "pooled", Finalist.text(pooled)))
                    .toString();
        }
    }

    /** Prepares a cross-validation; {@code progress} receives lines for the terminal. */
    public CrossValidation(
            RunConfig config, Settings settings, JobRunner runner, Consumer<String> progress) {
        this.config = config;
        this.settings = settings;
        this.runner = runner;
        this.progress = progress;
        PooledMetric.requireSupported(config);
    }

    /**
     * Trains and evaluates all folds; returns empty if stopped.
     *
     * @param folder empty or missing, or with {@code resume} the folder of the same work
     * @throws SaccadeException of kind user, if the folder belongs to other work, or a run fails
     */
    public Optional<Result> run(Path folder, boolean resume) {
        return run(folder, resume, new TaskMonitor(done -> {}));
    }

    /**
     * Trains and evaluates all folds like {@link #run(Path, boolean)}.
     *
     * @param monitor receives the finished folds; cancelling it stops the runs
     */
    public Optional<Result> run(Path folder, boolean resume, TaskMonitor monitor) {
        Dataset dataset = FoldConfigs.images(config).open(config.data().root());
        FoldConfigs.require(settings.folds(), dataset.size());
        JobFolder files = SearchFolder.open(folder, resume, config, dataset, settings);
        Jobs jobs = new Jobs(files, runner, config.monitor(), progress, monitor);
        FoldConfigs folds = new FoldConfigs(settings.folds(), settings.seed());
        Optional<List<JobResult>> results =
                jobs.run(
                        IntStream.range(0, settings.folds())
                                .mapToObj(
                                        fold ->
                                                TrainJob.of(
                                                        "fold_" + fold,
                                                        folds.holdOut(config, fold)))
                                .toList());
        return results.map(all -> finish(folder, files, dataset, all));
    }

    private Result finish(Path folder, JobFolder files, Dataset dataset, List<JobResult> results) {
        for (JobResult result : results) {
            if (result.failure().isPresent()) {
                throw SaccadeException.user(
                        "%s: %s failed: %s; delete %s to run it again",
                        folder,
                        result.name(),
                        result.failure().get(),
                        files.resultFile(result.name()));
            }
        }
        List<Path> predictions =
                results.stream().map(each -> files.predictions(each.name())).toList();
        PooledMetric pooled = new PooledMetric(config, dataset);
        writePredictions(folder, dataset, pooled, predictions);
        Map<String, FoldMetric> metrics = metrics(results);
        Bootstrap.Interval interval = Bootstrap.DEFAULT.sample(pooled.of(predictions)).interval();
        Path report =
                new CrossValidationReport(
                                config,
                                dataset,
                                results,
                                metrics,
                                interval,
                                labelErrors(dataset, pooled, predictions))
                        .write(folder);
        return new Result(metrics, interval, report);
    }

    /** Compares labels with out-of-fold detections; empty without objects. */
    private Optional<LabelErrors> labelErrors(
            Dataset dataset, PooledMetric pooled, List<Path> predictions) {
        return config.model().head().targets().hasObjects()
                ? Optional.of(
                        LabelErrors.find(dataset, pooled.detections(predictions, IouType.BOX)))
                : Optional.empty();
    }

    /** Writes the out-of-fold detections of all images in COCO's results format. */
    private void writePredictions(
            Path folder, Dataset dataset, PooledMetric pooled, List<Path> predictions) {
        TargetKind targets = config.model().head().targets();
        List<IouType> types = new ArrayList<>();
        if (targets.hasObjects()) {
            types.add(IouType.BOX);
        }
        if (targets.hasMasks()) {
            types.add(IouType.MASK);
        }
        for (IouType type : types) {
            CocoResults.write(
                    HeldOutEvaluation.detections(folder.resolve(OUT_OF_FOLD), type),
                    dataset,
                    pooled.detections(predictions, type),
                    type);
        }
    }

    private static Map<String, FoldMetric> metrics(List<JobResult> results) {
        Map<String, FoldMetric> metrics = new TreeMap<>();
        for (String name : results.get(0).metrics().keySet()) {
            List<Double> values =
                    results.stream()
                            .filter(each -> each.metrics().containsKey(name))
                            .map(each -> each.metrics().get(name))
                            .toList();
            double deviation =
                    values.size() < 2 ? Double.NaN : Stats.of(values).sampleStandardDeviation();
            metrics.put(name, new FoldMetric(Stats.of(values).mean(), deviation));
        }
        return metrics;
    }
}
