package dev.saccade.eval;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Batch;
import dev.saccade.datasets.DataLoader;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;

import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/**
 * Collects what a detector finds in the photographs of a data set, in whatever order they are
 * looked at, and measures it.
 *
 * <p>Not thread-safe.
 */
public final class DetectionEvaluator {

    private final Dataset dataset;
    private final GroundTruth groundTruth;
    private final Instances[] predictions;

    /** Collects for a data set; its ground truth is read at once. */
    public DetectionEvaluator(Dataset dataset) {
        this.dataset = dataset;
        this.groundTruth = GroundTruth.of(dataset, IouType.BOX);
        this.predictions = new Instances[dataset.size()];
    }

    /**
     * Runs a detector over a data set.
     *
     * @param detector gives the objects found in photograph {@code index}, with boxes in pixels of
     *     the original photograph
     * @param progress told the number of photographs that are done, after each
     * @param threads how many threads share the measuring
     */
    public static Evaluation evaluate(
            Dataset dataset, IntFunction<Instances> detector, IntConsumer progress, int threads) {
        DetectionEvaluator evaluator = new DetectionEvaluator(dataset);
        for (int i = 0; i < dataset.size(); i++) {
            evaluator.add(i, detector.apply(i));
            progress.accept(i + 1);
        }
        return evaluator.finish(threads);
    }

    /**
     * Runs a detector over a data set, reading photographs ahead on threads.
     *
     * @param transforms what is done to a photograph before the detector sees it
     * @param detector gives the objects found in each photograph of a batch, with boxes in pixels
     *     of the original photographs
     * @param workers threads that read photographs, and that share the measuring
     * @param progress told the number of photographs that are done, after each
     */
    public static Evaluation evaluate(
            Dataset dataset,
            List<Transform> transforms,
            Function<Batch, List<Instances>> detector,
            int workers,
            IntConsumer progress) {
        try (DataLoader loader = DataLoader.sequential(dataset, transforms, 1, workers);
                DataLoader.Epoch batches = loader.epoch(0)) {
            IntFunction<Instances> next =
                    index -> {
                        try (Batch batch = batches.next()) {
                            return detector.apply(batch).get(0);
                        }
                    };
            return evaluate(dataset, next, progress, workers);
        }
    }

    /**
     * Adds what was found in a photograph.
     *
     * @param index of the photograph in the data set
     * @param predicted with boxes in pixels of the original photograph; replaces what was added for
     *     this photograph before
     */
    public void add(int index, Instances predicted) {
        predictions[index] = predicted;
    }

    /**
     * Returns the evaluation of all photographs.
     *
     * @throws IllegalStateException if nothing was added for one of them
     * @throws SaccadeException if a prediction is not finite or of a class that the data set does
     *     not have
     */
    public Evaluation finish(int threads) {
        Detections.Builder detections = new Detections.Builder();
        for (int i = 0; i < predictions.length; i++) {
            checkState(predictions[i] != null, "no predictions for photograph %s", i);
            detections.add(dataset.photo(i).id(), predictions[i]);
        }
        Detections all = detections.build();
        CocoParameters parameters = CocoParameters.official(IouType.BOX);
        CocoMetrics metrics = CocoMetrics.of(groundTruth, all, parameters, threads);
        return new Evaluation(
                List.of(predictions), verdicts(metrics), missed(metrics), all, metrics);
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
