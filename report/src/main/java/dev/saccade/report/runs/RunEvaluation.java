package dev.saccade.report.runs;

import com.google.common.collect.Maps;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.runs.RunMetrics.Measured;
import dev.saccade.report.runs.RunMetrics.Weights;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Evaluates the best checkpoint of a run for its page.
 *
 * @param examples number of validation images to show at most
 * @param loader loads a checkpoint
 * @param evaluator evaluates a model on a data set
 */
public record RunEvaluation(
        int examples,
        Function<Path, TrainedModel<?>> loader,
        BiFunction<TrainedModel<?>, Dataset, ModelEvaluation> evaluator) {

    /** Number of validation images to show by default. */
    public static final int EXAMPLES = 24;

    /**
     * Evaluates the best checkpoint, or else the last, and keeps the results in the run. Without a
     * validation set, keeps the data set statistics only.
     *
     * @param subtitle one sentence about the run
     * @param reports the checked data sets
     */
    public void keep(Path run, RunConfig config, String subtitle, DataReports reports) {
        Map<String, DatasetStatistics> statistics =
                Maps.transformValues(reports.byRole(), DatasetReport::statistics);
        MetricsFile.write(
                run,
                new RunMetrics(
                        subtitle,
                        DatasetFacts.of(statistics),
                        Environment.lines(),
                        config.data()
                                .val()
                                .map(val -> evaluate(run, val.open(config.data().root())))));
    }

    private Measured evaluate(Path run, Dataset dataset) {
        Path checkpoint = new RunFolder(run).best();
        try (TrainedModel<?> model = loader.apply(checkpoint)) {
            Weights weights = Weights.of(run, checkpoint, model.parameterCount());
            ModelEvaluation evaluation = evaluator.apply(model, dataset);
            return new Measured(
                    weights,
                    evaluation.imagesPerSecond(),
                    Latency.of(model, dataset),
                    evaluation.figures().apply(examples));
        }
    }
}
