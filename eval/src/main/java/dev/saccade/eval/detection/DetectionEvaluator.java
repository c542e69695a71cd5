package dev.saccade.eval.detection;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableSet;

import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.models.Detector;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/** Computes COCO's average precision and recall of boxes and, if predicted, of masks. */
public final class DetectionEvaluator implements Evaluator<Instances> {

    private static final int WORKERS = 2;

    /**
     * Evaluation settings.
     *
     * @param areaOf whether the area of a detected mask is its box or mask area; see {@link
     *     CocoParameters}
     * @param maxDets ascending limits per image and class, as in pycocotools; AP uses the largest
     */
    @Component("coco")
    public record Config(
            @Default("mask") IouType areaOf, @Default("[1, 10, 100]") List<Integer> maxDets)
            implements Evaluator.Config {

        private static final int MAX_LIMITS = 10;

        public Config {
            maxDets = List.copyOf(maxDets);
            new Checks()
                    .size("max_dets", maxDets, 1, MAX_LIMITS)
                    .each("max_dets", maxDets, 1, 100_000_000)
                    .ascending("max_dets", maxDets)
                    .throwIfAny();
        }

        @Override
        public Class<Instances> predictionType() {
            return Instances.class;
        }

        @Override
        public String keyMetric() {
            return "AP";
        }

        @Override
        public boolean isDefault() {
            return true;
        }

        @Override
        public DetectionEvaluator build(Dataset dataset, TargetKind targets, int threads) {
            return new DetectionEvaluator(dataset, parameters(targets.hasMasks()), threads);
        }

        /** Returns the parameters for boxes and, if evaluated, for masks. */
        List<CocoParameters> parameters(boolean masks) {
            CocoParameters boxes = new CocoParameters(IouType.BOX, IouType.BOX, maxDets, true);
            return masks
                    ? List.of(boxes, new CocoParameters(IouType.MASK, areaOf, maxDets, true))
                    : List.of(boxes);
        }

        @Override
        public OptionalInt maxDetections() {
            return OptionalInt.of(maxDets.get(maxDets.size() - 1));
        }
    }

    private final Dataset dataset;
    private final GroundTruth groundTruth;
    private final List<CocoParameters> allParameters;
    private final int threads;
    private final Instances[] predictions;

    private DetectionEvaluator(Dataset dataset, List<CocoParameters> allParameters, int threads) {
        this.dataset = dataset;
        this.groundTruth =
                GroundTruth.collect(dataset, allParameters.get(allParameters.size() - 1).iouType());
        this.allParameters = allParameters;
        this.threads = threads;
        this.predictions = new Instances[dataset.size()];
    }

    /**
     * Evaluates boxes and, if predicted, masks, with the default settings.
     *
     * @throws SaccadeException of kind user, if the classes differ or the data set has errors
     */
    public static DetectionEvaluation evaluate(Detector detector, Dataset dataset) {
        return evaluate(detector, dataset, ProgressBar.NONE);
    }

    /**
     * Evaluates like {@link #evaluate(Detector, Dataset)}, with a {@link TaskMonitor} or a progress
     * bar.
     *
     * @throws TaskCancelledException if the monitor is cancelled
     */
    public static DetectionEvaluation evaluate(
            Detector detector, Dataset dataset, ProgressBar.Factory progress) {
        DatasetInference inference = new DatasetInference(dataset, WORKERS);
        inference.requireNoErrors(detector);
        DetectionEvaluator evaluator =
                Configs.of(Config.class)
                        .build(dataset, detector.spec().model().head().targets(), WORKERS);
        try (ProgressBar bar = progress.open("evaluate", dataset.size(), " images")) {
            inference.run(detector, evaluator, bar::to);
        }
        return evaluator.evaluate();
    }

    /** Returns the names of the metrics that are defined for the data set. */
    @Override
    public Set<String> metrics() {
        CocoDetections none = new CocoDetections.Builder().build();
        return allParameters.stream()
                .map(parameters -> CocoMetrics.compute(groundTruth, none, parameters, 1))
                .flatMap(metrics -> metrics.values().keySet().stream())
                .collect(ImmutableSet.toImmutableSet());
    }

    @Override
    public void reset() {
        Arrays.fill(predictions, null);
    }

    @Override
    public void process(int index, Instances predicted) {
        predictions[index] = predicted;
    }

    @Override
    public byte[] state() {
        return PredictedInstances.write(predictions);
    }

    @Override
    public void mergeState(byte[] state) {
        PredictedInstances.read(state, predictions);
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException if a prediction is not finite, has a class outside the data set, or
     *     lacks a mask
     */
    @Override
    public DetectionEvaluation evaluate() {
        CocoDetections.Builder builder = new CocoDetections.Builder();
        for (int i = 0; i < predictions.length; i++) {
            checkState(predictions[i] != null, "no predictions for image %s", i);
            builder.add(dataset.image(i).id(), predictions[i]);
        }
        return DetectionEvaluation.compute(groundTruth, builder.build(), allParameters, threads);
    }
}
