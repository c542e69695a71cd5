package dev.saccade.eval.detection;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.Detections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.Verdict;
import dev.saccade.models.Detector;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Measures objects by COCO's average precision and recall: boxes, and masks if those are learned.
 */
public final class DetectionEvaluator implements Evaluator<Instances> {

    private static final int WORKERS = 2;

    /**
     * What can be set.
     *
     * @param areaOf what the size of a mask is taken from, see {@link CocoParameters}
     */
    @Part("coco")
    public record Config(@Default("mask") IouType areaOf) implements Evaluator.Config {

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
            CocoParameters boxes = CocoParameters.official(IouType.BOX);
            CocoParameters masks =
                    new CocoParameters(IouType.MASK, areaOf, boxes.maxDetections(), true);
            return new DetectionEvaluator(
                    dataset, targets.hasMasks() ? List.of(boxes, masks) : List.of(boxes), threads);
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
        inference.requireSound(detector);
        DetectionEvaluator evaluator =
                Configs.of(Config.class)
                        .build(dataset, detector.spec().model().head().targets(), WORKERS);
        inference.run(detector, evaluator, done -> {});
        return evaluator.evaluate();
    }

    /** Returns the names of the metrics; those without an object to find are left out. */
    @Override
    public Set<String> metrics() {
        Detections none = new Detections.Builder().build();
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
        Detections.Builder builder = new Detections.Builder();
        for (int i = 0; i < predictions.length; i++) {
            checkState(predictions[i] != null, "no predictions for photograph %s", i);
            builder.add(dataset.photo(i).id(), predictions[i]);
        }
        Detections detections = builder.build();
        List<CocoMetrics> metrics =
                measured.stream()
                        .map(p -> CocoMetrics.compute(groundTruth, detections, p, threads))
                        .toList();
        return new DetectionEvaluation(
                List.of(predictions),
                verdicts(metrics.get(0)),
                missed(metrics.get(0)),
                groundTruth,
                detections,
                metrics);
    }

    private List<List<Verdict>> verdicts(CocoMetrics metrics) {
        List<Verdict> all = metrics.verdicts();
        ImmutableList.Builder<List<Verdict>> byImage = ImmutableList.builder();
        int first = 0;
        for (Instances predicted : predictions) {
            byImage.add(all.subList(first, first + predicted.size()));
            first += predicted.size();
        }
        return byImage.build();
    }

    private List<List<Annotation>> missed(CocoMetrics metrics) {
        ImmutableList.Builder<List<Annotation>> byImage = ImmutableList.builder();
        int object = 0;
        for (int i = 0; i < dataset.size(); i++) {
            ImmutableList.Builder<Annotation> missed = ImmutableList.builder();
            for (Annotation annotation : GroundTruth.objects(dataset, i)) {
                if (!annotation.crowd() && !metrics.found(object)) {
                    missed.add(annotation);
                }
                object++;
            }
            byImage.add(missed.build());
        }
        return byImage.build();
    }
}
