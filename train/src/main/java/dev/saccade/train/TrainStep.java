package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.nn.Parameter;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.LogVars;
import dev.saccade.train.optimizers.GradScaler;
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
 * of an epoch has fewer batches: it equals the step over one large batch. What a GPU has to tell is
 * read once, before the update. All memory of a step is freed at its end.
 */
final class TrainStep {

    private final BatchLosses model;
    private final Optimizer optimizer;
    private final Optional<ModelEma> ema;
    private final RunConfig config;
    private final Map<String, Parameter> parameters;
    private Map<String, Float> normsBefore = Map.of();
    private Optional<Pixels> underWay = Optional.empty();

    /**
     * What a step was like.
     *
     * @param logVars means over the images
     * @param images images learned from
     * @param scaler for the next step
     */
    record Result(LogVars logVars, int images, GradScaler scaler) {}

    /**
     * What a batch holds.
     *
     * @param size of all its images
     */
    record Pixels(int images, Size size) {}

    /**
     * Prepares steps.
     *
     * @param ema averages that follow the weights
     * @param config tells the precision, how many batches a step takes at most, how gradients are
     *     clipped, and the seed of all that layers draw
     */
    TrainStep(BatchLosses model, Optimizer optimizer, Optional<ModelEma> ema, RunConfig config) {
        this.model = model;
        this.optimizer = optimizer;
        this.ema = ema;
        this.config = config;
        this.parameters = optimizer.parameters();
    }

    /**
     * Takes a step. In float16, a step whose gradients overflow changes nothing but the scale.
     *
     * @param batches at least one
     * @param state how far the run is
     */
    Result take(Iterator<Batch> batches, RunState state, int epoch, double learningRate) {
        double scale = isScaled() ? state.scaler().scale() : 1;
        try (NDScope scope = new NDScope();
                NDManager manager = manager().newSubManager();
                OpenBatch open = new OpenBatch()) {
            scope.suppressNotUsedWarning();
            StepReadings readings = new StepReadings(manager);
            Gradients gradients = new Gradients(Map.of());
            int images = 0;
            for (int i = 0; i < config.accumulation() && batches.hasNext(); i++) {
                Batch batch = open.next(batches);
                underWay = Optional.of(new Pixels(batch.images().size(), batch.size()));
                Gradients backward = backward(batch, epoch, scale, readings, manager);
                gradients = gradients.plus(backward).attach(manager);
                images += batch.images().size();
            }
            if (isAccumulating()) {
                gradients = gradients.times(1f / images);
            }
            StepReadings.OfStep read =
                    readings.read(isAccumulating() ? Optional.of(gradients) : Optional.empty());
            GradScaler scaler =
                    isScaled() ? state.scaler().update(!read.isFinite()) : state.scaler();
            if (!read.isFinite() && (!isScaled() || scaler.isExhausted())) {
                throw new Divergence(
                                state.iteration() + 1,
                                learningRate,
                                normsBefore,
                                config.precision())
                        .of(read, open.batch);
            }
            Gradients.Norms norms = read.norms().over(scale);
            update(gradients, norms, (float) scale, state.iteration(), learningRate);
            underWay = Optional.empty();
            return new Result(logVars(read, norms.total(), scale), images, scaler);
        }
    }

    /** Returns what a step is computing on that has not come to its end. */
    Optional<Pixels> underWay() {
        return underWay;
    }

    private NDManager manager() {
        return parameters.values().iterator().next().getArray().getManager();
    }

    private boolean isAccumulating() {
        return config.accumulation() > 1;
    }

    private boolean isScaled() {
        return config.precision() == Precision.FLOAT16;
    }

    /** Keeps the last batch open until the step is over. */
    private static final class OpenBatch implements AutoCloseable {

        private Batch batch;

        Batch next(Iterator<Batch> batches) {
            close();
            batch = batches.next();
            return batch;
        }

        @Override
        public void close() {
            if (batch != null) {
                batch.close();
            }
        }
    }

    /**
     * Returns the gradients by the loss of a batch times a scale, and, where several batches make
     * up a step, times its images.
     */
    private Gradients backward(
            Batch batch, int epoch, double scale, StepReadings readings, NDManager manager) {
        try (NDManager scratch = manager.newSubManager()) {
            Gradients gradients =
                    Gradients.compute(
                                    () -> {
                                        Losses losses = forward(batch, epoch, scratch);
                                        readings.add(losses);
                                        int weight = isAccumulating() ? batch.images().size() : 1;
                                        return total(losses, (float) (scale * weight), scratch);
                                    },
                                    parameters)
                            .attach(manager);
            readings.add(batch, gradients);
            return gradients;
        }
    }

    /** Runs the model, each layer of which draws by seed, epoch and image. */
    private Losses forward(Batch batch, int epoch, NDManager scratch) {
        return SampleRandom.during(
                config.seed(),
                epoch,
                distinct(batch.images()),
                () ->
                        Autocast.call(
                                config.precision(),
                                scratch.getDevice(),
                                () -> model.compute(batch, scratch)));
    }

    /** Returns what to go backward from; the losses are freed. */
    private static NDArray total(Losses losses, float factor, NDManager scratch) {
        NDArray total =
                Scope.array(
                        () ->
                                factor == 1
                                        ? losses.total()
                                        : losses.total().mul(Tensors.of(scratch, factor)));
        losses.scalars().stream().filter(scalar -> scalar != total).forEach(NDArray::close);
        return total;
    }

    /** Changes the weights by finite gradients; averages follow the weights in any case. */
    private void update(
            Gradients gradients,
            Gradients.Norms norms,
            float scale,
            long iteration,
            double learningRate) {
        ModelEma.Update averages = ema.map(e -> e.update(iteration)).orElse(ModelEma.Update.NONE);
        if (!Float.isFinite(norms.total())) {
            averages.apply();
            return;
        }
        float clipping = config.maxGradientNorm().map(norms::clipping).orElse(1f);
        optimizer.step(gradients, clipping / scale, learningRate, averages);
        normsBefore = norms.byParameter();
    }

    /** Returns the means over the images of a step. */
    private LogVars logVars(StepReadings.OfStep read, float gradientNorm, double scale) {
        Map<String, Double> losses = new LinkedHashMap<>();
        Map<String, Double> metrics = new LinkedHashMap<>();
        int images = 0;
        for (StepReadings.OfBatch batch : read.batches()) {
            int weight = batch.batch().images().size();
            batch.losses().forEach((name, x) -> losses.merge(name, x * weight, Double::sum));
            batch.metrics().forEach((name, x) -> metrics.merge(name, x * weight, Double::sum));
            images += weight;
        }
        int all = images;
        losses.replaceAll((name, sum) -> sum / all);
        metrics.replaceAll((name, sum) -> sum / all);
        if (isScaled()) {
            metrics.put("loss_scale", scale);
        }
        double loss = losses.values().stream().mapToDouble(mean -> mean).sum();
        return new LogVars(loss, losses, metrics, gradientNorm);
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
