package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.Evaluators;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.runs.TaskMetrics;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The evaluation of a model on a data set: its metrics, and the figures of a report. */
interface Measurement {

    /**
     * What a run over a data set gives besides predictions.
     *
     * @param others the metrics of other evaluators
     * @param photographsPerSecond how many were read, predicted and measured in a second
     */
    record Ran(Map<String, Double> others, double photographsPerSecond) {}

    /**
     * Runs a model over a data set with a progress bar, on all {@linkplain ProcessGroup#current()
     * ranks}, for an evaluator that is asked afterwards, and for others that are asked here.
     *
     * @return the metrics of the others, and how fast it went; nothing but in rank 0, which has all
     *     photographs then
     */
    static <P> Optional<Ran> run(
            TrainedModel<P> model,
            Dataset dataset,
            Evaluator<P> evaluator,
            Evaluators<P> others,
            int workers) {
        ProcessGroup ranks = ProcessGroup.current();
        DatasetInference inference = new DatasetInference(dataset, workers, ranks);
        try (Progress progress =
                new Progress(RankOptions.ofRank("evaluate"), inference.size(), " photos")) {
            Evaluators<P> both = new Evaluators<>(List.of(evaluator, others));
            long start = System.nanoTime();
            inference.run(model, both, progress::to);
            double seconds = (System.nanoTime() - start) / 1e9;
            return ranks.rank() == 0
                    ? Optional.of(new Ran(others.evaluate().values(), dataset.size() / seconds))
                    : Optional.empty();
        }
    }

    /** Returns the metrics. */
    EvaluationOutput output();

    /** Returns how many photographs were read, predicted and measured in a second. */
    double photographsPerSecond();

    /**
     * Returns what the report of the run says about it.
     *
     * @param examples how many photographs are shown at most
     */
    TaskMetrics figures(int examples);
}
