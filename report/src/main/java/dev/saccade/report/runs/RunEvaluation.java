package dev.saccade.report.runs;

import com.google.common.collect.Maps;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.eval.labelerrors.LabelErrorsFile;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.runs.RunMetrics.CheckpointMetrics;
import dev.saccade.report.runs.RunMetrics.Weights;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Evaluates the best checkpoint of a run; keeps at most {@code examples} example images. */
public record RunEvaluation(
        int examples,
        Function<Path, TrainedModel<?>> loader,
        BiFunction<TrainedModel<?>, Dataset, ModelEvaluation> evaluator) {

    public static final int DEFAULT_EXAMPLES = 24;

    /**
     * Evaluates the best or else the last checkpoint, and writes {@code report.json} and, for a
     * detector, {@code label_errors.json}. Without a validation set, {@code report.json} describes
     * only the data and the environment.
     */
    public void writeMetrics(Path run, RunConfig config, String subtitle, DataReports reports) {
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

    private CheckpointMetrics evaluate(Path run, Dataset dataset) {
        Path checkpoint = new RunFolder(run).best();
        try (TrainedModel<?> model = loader.apply(checkpoint)) {
            Weights weights = Weights.of(run, checkpoint, model.parameterCount());
            ModelEvaluation evaluation = evaluator.apply(model, dataset);
            evaluation
                    .labelErrors()
                    .get()
                    .ifPresent(
                            errors ->
                                    AtomicFile.write(
                                            run.resolve(LabelErrorsFile.NAME),
                                            LabelErrorsFile.json(errors, dataset)));
            return new CheckpointMetrics(
                    weights,
                    evaluation.imagesPerSecond(),
                    Latency.of(model, dataset),
                    evaluation.taskMetrics().apply(examples));
        }
    }
}
