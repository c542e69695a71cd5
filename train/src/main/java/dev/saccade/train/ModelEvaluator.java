package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Nearest;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Autocast;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluators;
import dev.saccade.models.Model;
import dev.saccade.train.config.RunConfig;

import java.util.List;

/** Measures the model of a run on the photographs that were held back. */
final class ModelEvaluator<P> {

    private final RunConfig config;
    private final Model<P> model;
    private final NDManager manager;
    private final List<List<Transform>> views;

    /**
     * Measures a model.
     *
     * @param manager its owner
     * @param views in what views photographs are looked at
     */
    ModelEvaluator(
            RunConfig config, Model<P> model, NDManager manager, List<List<Transform>> views) {
        this.config = config;
        this.model = model;
        this.manager = manager;
        this.views = views;
    }

    /**
     * Returns what measures on a data set.
     *
     * @throws SaccadeException of kind user, if it cannot give the metric that is monitored
     */
    Validation on(Dataset dataset) {
        int workers = config.data().workers();
        Evaluators<P> evaluators =
                Evaluators.build(
                        config.evaluators(),
                        model.predictionType(),
                        dataset,
                        config.model().head().targets(),
                        workers);
        if (!evaluators.metrics().contains(config.monitor())) {
            throw SaccadeException.user(
                    "evaluation.monitor: there is no metric %s of data.val; expected one of %s%s",
                    config.monitor(),
                    evaluators.metrics(),
                    Nearest.suggestion(config.monitor(), evaluators.metrics()));
        }
        DatasetInference inference = new DatasetInference(dataset, workers);
        return progress -> {
            inference.run(views, this::predict, evaluators, done -> progress.run());
            return evaluators.evaluate();
        };
    }

    private P predict(PhotoViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return Autocast.call(
                    config.precision(),
                    manager.getDevice(),
                    () -> model.predictViews(photo.on(scratch)));
        }
    }
}
