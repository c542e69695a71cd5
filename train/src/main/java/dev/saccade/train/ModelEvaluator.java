package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Targets;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.SegmentationEvaluator;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;
import dev.saccade.models.SegmentationModel;
import dev.saccade.train.config.RunConfig;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Measures the model of a run on the photographs that were held back. */
final class ModelEvaluator {

    private final RunConfig config;
    private final Model model;
    private final NDManager manager;
    private final List<List<Transform>> views;

    /**
     * Measures a model.
     *
     * @param manager its owner
     * @param views in what views photographs are looked at
     */
    ModelEvaluator(RunConfig config, Model model, NDManager manager, List<List<Transform>> views) {
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
    Evaluator on(Dataset dataset) {
        Targets learned = config.model().head().targets();
        return switch (learned) {
            case BOXES, MASKS -> on(DetectionEvaluator.of(dataset, learned));
            case LABEL_MAPS -> on(new SegmentationEvaluator(dataset));
        };
    }

    private Evaluator on(DetectionEvaluator photos) {
        requireMonitored(photos.metrics());
        return progress ->
                result(
                        photos.evaluate(
                                        views,
                                        photo -> predicted((DetectionModel) model, photo),
                                        config.data().workers(),
                                        done -> progress.run())
                                .values());
    }

    private Evaluator on(SegmentationEvaluator photos) {
        requireMonitored(photos.metrics());
        return progress ->
                result(
                        photos.evaluate(
                                        views,
                                        photo -> predicted((SegmentationModel) model, photo),
                                        config.data().workers(),
                                        done -> progress.run())
                                .values());
    }

    private void requireMonitored(Set<String> metrics) {
        if (!metrics.contains(config.monitor())) {
            throw SaccadeException.user(
                    "evaluation.monitor: there is no metric %s of data.val; expected one of %s",
                    config.monitor(), metrics);
        }
    }

    private Instances predicted(DetectionModel detector, PhotoViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return detector.predictViews(photo.on(scratch));
        }
    }

    private LabelMap predicted(SegmentationModel segmenter, PhotoViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return segmenter.predictViews(photo.on(scratch));
        }
    }

    private static Evaluator.Result result(Map<String, Double> metrics) {
        return new Evaluator.Result(metrics, Map.of());
    }
}
