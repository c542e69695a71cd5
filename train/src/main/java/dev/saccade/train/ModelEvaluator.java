package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.config.Suggestions;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.ViewReader;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.Evaluators;
import dev.saccade.models.Model;
import dev.saccade.train.config.RunConfig;

import java.util.List;
import java.util.Map;

/** Measures the model of a run on the photographs that were held back. */
final class ModelEvaluator<P> {

    private final RunConfig config;
    private final Model<P> model;
    private final NDManager manager;
    private final ProcessGroup ranks;

    /**
     * Measures a model.
     *
     * @param manager its owner
     * @param ranks share the photographs
     */
    ModelEvaluator(RunConfig config, Model<P> model, NDManager manager, ProcessGroup ranks) {
        this.config = config;
        this.model = model;
        this.manager = manager;
        this.ranks = ranks;
    }

    /**
     * Returns what measures on a data set.
     *
     * @throws SaccadeException of kind user, if it cannot give the metric that is monitored, or
     *     cannot measure on several ranks
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
                    Suggestions.suggestion(config.monitor(), evaluators.metrics()));
        }
        if (ranks.worldSize() > 1) {
            evaluators.collected();
        }
        ViewReader reader = new ViewReader(List.of(config.data().valTransformsAtSize()));
        DatasetInference inference = new DatasetInference(dataset, workers, ranks);
        return progress -> {
            inference.run(reader, this::predict, evaluators, done -> progress.run());
            return ranks.rank() == 0 ? told(evaluators.evaluate()) : heard();
        };
    }

    /** Tells the other ranks what has been measured. */
    private Evaluation told(Evaluation evaluation) {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        MapBytes.write(evaluation.values(), out, ByteArrayDataOutput::writeDouble);
        ranks.broadcast(out.toByteArray(), 0);
        return evaluation;
    }

    /** Returns what rank 0 has measured, without pictures. */
    private Evaluation heard() {
        byte[] told = ranks.broadcast(new byte[0], 0);
        Map<String, Double> values =
                MapBytes.read(ByteStreams.newDataInput(told), ByteArrayDataInput::readDouble);
        return () -> values;
    }

    private P predict(ImageViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return Autocast.call(
                    config.precision(),
                    manager.getDevice(),
                    () -> model.predictViews(photo.on(scratch)));
        }
    }
}
