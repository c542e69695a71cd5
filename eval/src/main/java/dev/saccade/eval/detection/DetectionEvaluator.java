package dev.saccade.eval.detection;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableSet;

import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.TargetKind;
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

/**
 * Measures objects by COCO's average precision and recall: boxes, and masks if those are learned.
 */
public final class DetectionEvaluator implements Evaluator<Instances> {

    private static final int WORKERS = 2;

    /**
     * Evaluation settings.
     *
     * @param areaOf what the size of a mask is taken from, see {@link CocoParameters}
     * @param maxDets ascending limits on the detections per image and class, as in pycocotools; AP
     *     is computed at the largest
     */
    @Part("coco")
    public record Config(
            @Default("mask") IouType areaOf, @Default("[1, 10, 100]") List<Integer> maxDets)
            implements Evaluator.Config {

        private static final int MOST_LIMITS = 10;

        /** Checks the values. */
        public Config {
            maxDets = List.copyOf(maxDets);
            new Checks()
                    .size("max_dets", maxDets, 1, MOST_LIMITS)
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
        public boolean isStandard() {
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
        public OptionalInt mostDetections() {
            return OptionalInt.of(maxDets.get(maxDets.size() - 1));
        }
    }

    private final Dataset dataset;
    private final GroundTruth groundTruth;
    private final List<CocoParameters> measured;
    private final int threads;
    private final Instances[] predictions;

    /** Prepares to measure a data set; its ground truth is read at once. */
    private DetectionEvaluator(Dataset dataset, List<CocoParameters> measured, int threads) {
        this.dataset = dataset;
        this.groundTruth =
                GroundTruth.collect(dataset, measured.get(measured.size() - 1).iouType());
        this.measured = measured;
        this.threads = threads;
        this.predictions = new Instances[dataset.size()];
    }

    /**
     * Measures a detector on a data set; masks too if it finds masks. The data set is held to the
     * check that training begins with.
     *
     * @throws SaccadeException of kind user, if the detector was trained for other classes, or if
     *     the data set has an error, such as boxes that are no pixels
     */
    public static DetectionEvaluation evaluate(Detector detector, Dataset dataset) {
        DatasetInference inference = new DatasetInference(dataset, WORKERS);
        inference.requireNoErrors(detector);
        DetectionEvaluator evaluator =
                Configs.of(Config.class)
                        .build(dataset, detector.spec().model().head().targets(), WORKERS);
        inference.run(detector, evaluator, done -> {});
        return evaluator.evaluate();
    }

    /** Returns the names of the metrics; those without an object to find are left out. */
    @Override
    public Set<String> metrics() {
        CocoDetections none = new CocoDetections.Builder().build();
        return measured.stream()
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
    public byte[] collected() {
        return PredictedInstances.write(predictions);
    }

    @Override
    public void merge(byte[] collected) {
        PredictedInstances.read(collected, predictions);
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException if a prediction is not finite, of a class that the data set does not
     *     have, or without a mask that is to be measured
     */
    @Override
    public DetectionEvaluation evaluate() {
        CocoDetections.Builder builder = new CocoDetections.Builder();
        for (int i = 0; i < predictions.length; i++) {
            checkState(predictions[i] != null, "no predictions for photograph %s", i);
            builder.add(dataset.image(i).id(), predictions[i]);
        }
        return DetectionEvaluation.compute(groundTruth, builder.build(), measured, threads);
    }
}
