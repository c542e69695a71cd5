package dev.saccade.train;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.nn.Parameter;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
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

import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One optimizer step: load, forward, backward, clip, update.
 *
 * <p>A step over several batches, of one rank or of several, follows the mean over all their
 * images, also where the last group of an epoch has fewer batches: it equals the step over one
 * large batch. What a GPU has to tell is read once, before the update. All memory of a step is
 * freed at its end.
 */
final class TrainStep {

    private final BatchLosses model;
    private final Optimizer optimizer;
    private final Optional<ModelEma> ema;
    private final RunConfig config;
    private final ProcessGroup ranks;
    private final Map<String, Parameter> parameters;
    private Map<String, Float> normsBefore = Map.of();
    private Optional<Pixels> underWay = Optional.empty();

    /**
     * What a step was like.
     *
     * @param logVars means over the images of all ranks
     * @param images images learned from, those of all ranks
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
     * @param ranks take the step together
     */
    TrainStep(
            BatchLosses model,
            Optimizer optimizer,
            Optional<ModelEma> ema,
            RunConfig config,
            ProcessGroup ranks) {
        this.model = model;
        this.optimizer = optimizer;
        this.ema = ema;
        this.config = config;
        this.ranks = ranks;
        this.parameters = optimizer.parameters();
    }

    /**
     * Takes a step. In float16, a step whose gradients overflow changes nothing but the scale.
     *
     * @param batches those of this rank; at least one of all ranks has one
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
            for (int i = 0; i < config.accumulation() && batches.hasNext(); i++) {
                Batch batch = open.next(batches);
                underWay = Optional.of(new Pixels(batch.images().size(), batch.size()));
                Gradients backward = backward(batch, epoch, scale, readings, manager);
                gradients = gradients.plus(backward).attach(manager);
            }
            BitSet withGradient = positions(gradients);
            if (ranks.worldSize() > 1) {
                gradients = gradients.sum(ranks, parameters, manager);
            }
            StepReadings.OfStep read =
                    readings.read(isAccumulating() ? Optional.of(gradients) : Optional.empty());
            StepTotals all = StepTotals.of(read.batches(), withGradient, learningRate).sum(ranks);
            boolean isFinite = all.isFinite() && Float.isFinite(read.norms().total());
            GradScaler scaler = isScaled() ? state.scaler().update(!isFinite) : state.scaler();
            if (!isFinite && (!isScaled() || scaler.isExhausted())) {
                throw divergence(read, all, open, state);
            }
            double factor = isAccumulating() ? scale * all.images() : scale;
            Gradients.Norms norms = read.norms().over(factor);
            Gradients followed = gradients.of(names(all.withGradient()));
            update(followed, norms, (float) factor, state.iteration(), all.learningRate());
            underWay = Optional.empty();
            return new Result(logVars(all, norms.total(), scale), all.images(), scaler);
        }
    }

    /** Returns the positions of the parameters that have a gradient. */
    private BitSet positions(Gradients gradients) {
        BitSet positions = new BitSet();
        Iterator<String> names = parameters.keySet().iterator();
        for (int i = 0; names.hasNext(); i++) {
            positions.set(i, gradients.arrays().containsKey(names.next()));
        }
        return positions;
    }

    private Set<String> names(BitSet positions) {
        List<String> names = List.copyOf(parameters.keySet());
        return positions.stream().mapToObj(names::get).collect(toImmutableSet());
    }

    /** Explains it in the rank whose batch it was; the others end with what that one tells. */
    private RuntimeException divergence(
            StepReadings.OfStep read, StepTotals all, OpenBatch open, RunState state) {
        boolean isOfAnother = read.hasFiniteBatches() && !all.isFinite();
        if (isOfAnother || read.batches().isEmpty()) {
            ranks.barrier();
        }
        return new Divergence(
                        state.iteration() + 1, all.learningRate(), normsBefore, config.precision())
                .of(read, open.batch);
    }

    /** Returns what a step is computing on that has not come to its end. */
    Optional<Pixels> underWay() {
        return underWay;
    }

    private NDManager manager() {
        return parameters.values().iterator().next().getArray().getManager();
    }

    private boolean isAccumulating() {
        return config.accumulation() * ranks.worldSize() > 1;
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

    /** Returns what is logged of a step. */
    private LogVars logVars(StepTotals all, float gradientNorm, double scale) {
        Map<String, Double> losses = all.meanLosses();
        Map<String, Double> metrics = all.meanMetrics();
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
