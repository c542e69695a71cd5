package dev.saccade.eval;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Targets;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.models.Detector;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/**
 * Collects what a detector finds in the photographs of a data set, in whatever order they are
 * looked at, and measures it: boxes, and masks too if asked for.
 *
 * <p>One evaluator serves any number of evaluations of its data set, one after the other. Not
 * thread-safe.
 */
public final class DetectionEvaluator {

    private static final CocoParameters BOXES = CocoParameters.official(IouType.BOX);

    private final Dataset dataset;
    private final GroundTruth groundTruth;
    private final List<CocoParameters> measured;
    private final Instances[] predictions;

    /** Collects boxes for a data set; its ground truth is read at once. */
    public DetectionEvaluator(Dataset dataset) {
        this(dataset, List.of(BOXES));
    }

    private DetectionEvaluator(Dataset dataset, List<CocoParameters> measured) {
        this.dataset = dataset;
        this.groundTruth = GroundTruth.of(dataset, measured.get(measured.size() - 1).iouType());
        this.measured = measured;
        this.predictions = new Instances[dataset.size()];
    }

    /**
     * Collects boxes and masks for a data set; its ground truth is read at once.
     *
     * @param areaOf what the size of a mask is taken from, see {@link CocoParameters}
     * @throws SaccadeException of kind user, if an object of the data set has no mask
     */
    static DetectionEvaluator ofMasks(Dataset dataset, IouType areaOf) {
        CocoParameters masks =
                new CocoParameters(IouType.MASK, areaOf, BOXES.maxDetections(), true);
        return new DetectionEvaluator(dataset, List.of(BOXES, masks));
    }

    /** Collects boxes, and masks, sized by themselves, if those are learned. */
    public static DetectionEvaluator of(Dataset dataset, Targets learned) {
        return of(dataset, learned, IouType.MASK);
    }

    /**
     * Collects boxes, and masks if those are learned.
     *
     * @param areaOf what the size of a mask is taken from, see {@link CocoParameters}
     * @throws SaccadeException of kind user, if masks are learned but an object of the data set has
     *     none
     */
    public static DetectionEvaluator of(Dataset dataset, Targets learned, IouType areaOf) {
        return learned == Targets.MASKS
                ? ofMasks(dataset, areaOf)
                : new DetectionEvaluator(dataset);
    }

    /**
     * Returns the names of the metrics that evaluations of the data set have; those without an
     * object to find are left out.
     */
    public Set<String> metrics() {
        Detections none = new Detections.Builder().build();
        return measured.stream()
                .map(parameters -> CocoMetrics.of(groundTruth, none, parameters, 1))
                .flatMap(metrics -> metrics.values().keySet().stream())
                .collect(ImmutableSet.toImmutableSet());
    }

    /** Returns the number of photographs. */
    public int size() {
        return predictions.length;
    }

    /**
     * Runs a detector over the data set.
     *
     * @param detector gives the objects found in photograph {@code index}, in pixels of the
     *     original photograph
     * @param progress told the number of photographs that are done, after each
     * @param threads how many threads share the measuring
     */
    public Evaluation evaluate(IntFunction<Instances> detector, IntConsumer progress, int threads) {
        for (int i = 0; i < dataset.size(); i++) {
            add(i, detector.apply(i));
            progress.accept(i + 1);
        }
        return finish(threads);
    }

    /**
     * Runs a detector over the data set, in the views it was made for.
     *
     * @param workers threads that read photographs, and that share the measuring
     * @param progress told the number of photographs that are done, after each
     * @throws SaccadeException of kind user, if it was trained for other classes
     */
    public Evaluation evaluate(Detector detector, int workers, IntConsumer progress) {
        MeasuredData.requireClasses(detector, dataset);
        return evaluate(detector.spec().viewTransforms(), detector::predict, workers, progress);
    }

    /**
     * Runs a detector over the data set, reading photographs ahead on threads.
     *
     * @param views what is done to a photograph in each view that the detector is shown
     * @param detector gives the objects found in the photograph of some views, in its pixels
     * @param workers threads that read photographs, and that share the measuring; each holds all
     *     views of a photograph
     * @param progress told the number of photographs that are done, after each
     */
    public Evaluation evaluate(
            List<List<Transform>> views,
            Function<PhotoViews, Instances> detector,
            int workers,
            IntConsumer progress) {
        try (DataLoader<PhotoViews> loader = DataLoader.testing(dataset, views, workers);
                DataLoader<PhotoViews>.Epoch photos = loader.epoch(0)) {
            IntFunction<Instances> next =
                    index -> {
                        try (PhotoViews photo = photos.next()) {
                            return detector.apply(photo);
                        }
                    };
            return evaluate(next, progress, workers);
        }
    }

    /**
     * Adds what was found in a photograph.
     *
     * @param index of the photograph in the data set
     * @param predicted in pixels of the original photograph; replaces what was added for this
     *     photograph before
     */
    public void add(int index, Instances predicted) {
        predictions[index] = predicted;
    }

    /**
     * Returns the evaluation of all photographs, and forgets what was found in them.
     *
     * @throws IllegalStateException if nothing was added for one of them
     * @throws SaccadeException if a prediction is not finite, of a class that the data set does not
     *     have, or without a mask that is to be measured
     */
    public Evaluation finish(int threads) {
        Detections.Builder builder = new Detections.Builder();
        for (int i = 0; i < predictions.length; i++) {
            checkState(predictions[i] != null, "no predictions for photograph %s", i);
            builder.add(dataset.photo(i).id(), predictions[i]);
        }
        Detections detections = builder.build();
        List<CocoMetrics> metrics =
                measured.stream()
                        .map(p -> CocoMetrics.of(groundTruth, detections, p, threads))
                        .toList();
        Evaluation evaluation =
                new Evaluation(
                        List.of(predictions),
                        verdicts(metrics.get(0)),
                        missed(metrics.get(0)),
                        groundTruth,
                        detections,
                        metrics);
        Arrays.fill(predictions, null);
        return evaluation;
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
