package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.nn.Parameter;

import com.google.common.collect.Maps;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.LogVars;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One optimizer step: load, forward, backward, clip, update.
 *
 * <p>A step over several batches follows the mean over all their images, also where the last group
 * of an epoch has fewer batches: it equals the step over one large batch. All memory of a step is
 * freed at its end.
 */
final class TrainStep {

    private final BatchLosses model;
    private final Optimizer optimizer;
    private final Optional<ModelEma> ema;
    private final RunConfig config;
    private final Map<String, Parameter> parameters;
    private Map<String, Float> normsBefore = Map.of();

    /**
     * What a step was like.
     *
     * @param logVars means over the images
     * @param images images learned from
     */
    record Result(LogVars logVars, int images) {}

    /** What the model says of a batch, by name; or the sum over the images of some. */
    private record BatchMetrics(Map<String, Double> losses, Map<String, Double> metrics) {

        BatchMetrics() {
            this(new LinkedHashMap<>(), new LinkedHashMap<>());
        }

        void add(BatchMetrics batch, int images) {
            batch.losses.forEach((name, x) -> losses.merge(name, x * images, Double::sum));
            batch.metrics.forEach((name, x) -> metrics.merge(name, x * images, Double::sum));
        }

        LogVars mean(int images, double gradientNorm) {
            Map<String, Double> means = Maps.transformValues(losses, sum -> sum / images);
            double loss = means.values().stream().mapToDouble(mean -> mean).sum();
            return new LogVars(
                    loss, means, Maps.transformValues(metrics, sum -> sum / images), gradientNorm);
        }
    }

    /**
     * Prepares steps.
     *
     * @param ema averages that follow the weights
     * @param config tells how many batches a step takes at most, how gradients are clipped, and the
     *     seed of all that layers draw
     */
    TrainStep(BatchLosses model, Optimizer optimizer, Optional<ModelEma> ema, RunConfig config) {
        this.model = model;
        this.optimizer = optimizer;
        this.ema = ema;
        this.config = config;
        this.parameters = optimizer.parameters();
    }

    /**
     * Takes a step.
     *
     * @param batches at least one
     * @param iteration optimizer steps, this one included, for messages
     */
    Result take(Iterator<Batch> batches, long iteration, int epoch, double learningRate) {
        Divergence divergence = new Divergence(iteration, learningRate, normsBefore);
        Gradients gradients = new Gradients(Map.of());
        Gradients.Norms norms = gradients.norms();
        BatchMetrics metrics = new BatchMetrics();
        int images = 0;
        try (NDScope scope = new NDScope();
                NDManager manager = manager().newSubManager()) {
            scope.suppressNotUsedWarning();
            for (int i = 0; i < config.accumulation() && batches.hasNext(); i++) {
                try (Batch batch = batches.next();
                        NDManager scratch = manager.newSubManager()) {
                    BatchMetrics found = new BatchMetrics();
                    Gradients backward =
                            Gradients.compute(
                                    () -> forward(batch, epoch, scratch, found, divergence),
                                    parameters);
                    norms = backward.norms();
                    if (!Float.isFinite(norms.total())) {
                        throw divergence.ofGradients(norms.byParameter(), batch);
                    }
                    gradients = gradients.plus(backward).attach(manager);
                    metrics.add(found, batch.images().size());
                    images += batch.images().size();
                }
            }
            if (isAccumulating()) {
                gradients = gradients.times(1f / images);
                norms = gradients.norms();
            }
            float clipping = config.maxGradientNorm().map(norms::clipping).orElse(1f);
            ModelEma.Update averages =
                    ema.map(e -> e.update(iteration - 1)).orElse(ModelEma.Update.NONE);
            optimizer.step(gradients, clipping, learningRate, averages);
        }
        normsBefore = norms.byParameter();
        return new Result(metrics.mean(images, norms.total()), images);
    }

    private NDManager manager() {
        return parameters.values().iterator().next().getArray().getManager();
    }

    private boolean isAccumulating() {
        return config.accumulation() > 1;
    }

    /**
     * Runs the model, each layer of which draws by seed, epoch and image, and returns what to go
     * backward from: the loss, times the images where several batches make up a step.
     */
    private NDArray forward(
            Batch batch, int epoch, NDManager scratch, BatchMetrics found, Divergence divergence) {
        Losses losses =
                SampleRandom.during(
                        config.seed(),
                        epoch,
                        distinct(batch.images()),
                        () -> model.compute(batch, scratch));
        losses.terms().forEach((name, term) -> found.losses.put(name, value(term)));
        if (!found.losses.values().stream().allMatch(Double::isFinite)) {
            throw divergence.ofLosses(found.losses, batch);
        }
        losses.metrics().forEach((name, metric) -> found.metrics.put(name, value(metric)));
        losses.metrics().values().forEach(NDArray::close);
        int images = batch.images().size();
        NDArray total =
                Scope.array(
                        () ->
                                isAccumulating()
                                        ? losses.total().mul(Tensors.of(scratch, images))
                                        : losses.total());
        losses.terms().values().stream().filter(term -> term != total).forEach(NDArray::close);
        return total;
    }

    private static double value(NDArray scalar) {
        return scalar.toFloatArray()[0];
    }

    /** Returns the ids of images, but others for the second and further times that one comes. */
    static long[] distinct(List<ImageInfo> images) {
        Map<Long, Integer> times = new HashMap<>();
        return images.stream()
                .mapToLong(ImageInfo::id)
                .map(
                        id -> {
                            int time = times.merge(id, 1, Integer::sum);
                            return time == 1 ? id : SeededRandom.of(id, time).nextLong();
                        })
                .toArray();
    }
}
