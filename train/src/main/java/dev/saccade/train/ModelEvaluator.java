package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Suggestions;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.eval.CompositeEvaluator;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluation;
import dev.saccade.models.Model;
import dev.saccade.train.checkpoint.RankMessages;
import dev.saccade.train.config.RunConfig;

import java.util.List;
import java.util.Map;

/** Evaluates the model of a run on the validation set. */
final class ModelEvaluator<P> implements Validation {

    private record Values(Map<String, Double> values) {}

    private final RunConfig config;
    private final Model<P> model;
    private final NDManager manager;
    private final ProcessGroup ranks;
    private final CompositeEvaluator<P> evaluators;
    private final DatasetInference inference;

    /** Rejects a data set whose classes differ from the model's, and an unknown monitor metric. */
    ModelEvaluator(
            RunConfig config,
            Model<P> model,
            NDManager manager,
            ProcessGroup ranks,
            Dataset dataset) {
        this.config = config;
        this.model = model;
        this.manager = manager;
        this.ranks = ranks;
        if (!dataset.classes().equals(model.classes())) {
            throw SaccadeException.user(
                    "data.val: got classes %s, expected the classes of data.train: %s",
                    dataset.classes(), model.classes());
        }
        int workers = config.data().workers();
        evaluators =
                CompositeEvaluator.build(
                        config.evaluators(),
                        model.predictionType(),
                        dataset,
                        config.model().head().targets(),
                        workers);
        if (!evaluators.metrics().contains(config.monitor())) {
            throw SaccadeException.user(
                    "evaluation.monitor: unknown metric %s; expected one of %s%s",
                    config.monitor(),
                    evaluators.metrics(),
                    Suggestions.suggestion(config.monitor(), evaluators.metrics()));
        }
        if (ranks.worldSize() > 1) {
            evaluators.state();
        }
        inference = new DatasetInference(dataset, workers, ranks);
    }

    @Override
    public Evaluation run(Runnable progress) {
        InferenceReader reader =
                new InferenceReader(
                        List.of(config.data().valTransformsAtSize()), config.data().pixels());
        inference.run(reader, this::predict, evaluators, done -> progress.run());
        if (ranks.rank() == 0) {
            Evaluation evaluation = evaluators.evaluate();
            RankMessages.broadcast(ranks, Values.class, new Values(evaluation.values()));
            return evaluation;
        }
        Values first = RankMessages.broadcast(ranks, Values.class, new Values(Map.of()));
        return first::values;
    }

    private P predict(InferenceInput image) {
        try (NDManager scratch = manager.newSubManager()) {
            return Autocast.call(
                    config.precision(),
                    manager.getDevice(),
                    () -> model.predictAugmented(image.to(scratch)));
        }
    }
}
