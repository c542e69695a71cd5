package dev.saccade.train.extend;

import dev.saccade.config.Configs;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.combined.PartiallyLabeledDataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.models.Detector;
import dev.saccade.train.config.RunConfig;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Detections of a data set by image index. */
final class Predictions implements Evaluator<Instances> {

    private final AtomicReferenceArray<Instances> byImage;

    private Predictions(int images) {
        byImage = new AtomicReferenceArray<>(images);
    }

    /**
     * Predicts all images; the classes of the data set may differ from the classes of the model.
     *
     * @param task name of the progress bar
     */
    static Predictions of(
            Detector detector,
            Dataset dataset,
            int workers,
            String task,
            ProgressBar.Factory progress) {
        Predictions predictions = new Predictions(dataset.size());
        Dataset images = new PartiallyLabeledDataset(dataset, detector.classes(), List.of());
        try (ProgressBar bar = progress.open(task, dataset.size(), " images")) {
            new DatasetInference(images, workers).run(detector, predictions, bar::to);
        }
        return predictions;
    }

    Instances get(int index) {
        return byImage.get(index);
    }

    /** Evaluates the first images, which are the images of {@code dataset}. */
    DetectionEvaluation evaluate(Dataset dataset, RunConfig config) {
        DetectionEvaluator evaluator =
                config.evaluators().stream()
                        .filter(DetectionEvaluator.Config.class::isInstance)
                        .map(DetectionEvaluator.Config.class::cast)
                        .findFirst()
                        .orElseGet(() -> Configs.of(DetectionEvaluator.Config.class))
                        .build(dataset, config.model().head().targets(), config.data().workers());
        for (int i = 0; i < dataset.size(); i++) {
            evaluator.process(i, get(i));
        }
        return evaluator.evaluate();
    }

    @Override
    public Set<String> metrics() {
        return Set.of();
    }

    @Override
    public void reset() {
        for (int i = 0; i < byImage.length(); i++) {
            byImage.set(i, null);
        }
    }

    @Override
    public void process(int index, Instances predicted) {
        byImage.set(index, predicted);
    }

    @Override
    public Evaluation evaluate() {
        return Map::of;
    }
}
