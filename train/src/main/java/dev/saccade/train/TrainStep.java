package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.nn.Parameter;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.nn.Tape;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.GradScaler;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * One optimizer step: load, forward, backward, all-reduce, clip, update.
 *
 * <p>With accumulation or several ranks, the loss is the mean over all images, so the step equals a
 * step on one large batch. Losses and norms are copied to the host once, before the update. The
 * memory of a step is freed at its end.
 */
final class TrainStep {

    private final BiFunction<Batch, NDManager, Losses> model;
    private final Optimizer optimizer;
    private final Optional<ModelEma> ema;
    private final RunConfig config;
    private final ProcessGroup ranks;
    private final Map<String, Parameter> parameters;
    private Map<String, Float> previousNorms = Map.of();
    private Optional<Batch> batch = Optional.empty();

    /**
     * Result of one optimizer step.
     *
     * @param losses loss terms, means over the images of all ranks
     * @param metrics means over the images of all ranks
     * @param gradientNorm before clipping
     * @param images number of images of all ranks
     */
    record Result(
            Map<String, Double> losses,
            Map<String, Double> metrics,
            double gradientNorm,
            int images,
            GradScaler scaler) {}

    /**
     * Prepares steps.
     *
     * @param model computes the losses of a batch in arrays that the given manager owns
     */
    TrainStep(
            BiFunction<Batch, NDManager, Losses> model,
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
     * Runs a step; at least one rank needs a batch. If float16 overflows, the step lowers the loss
     * scale and updates the EMA, but does not change the weights.
     */
    Result run(Iterator<Batch> batches, RunState state, int epoch, double learningRate) {
        double lossScale = isScaled() ? state.scaler().scale() : 1;
        List<NDArray> weights = parameters.values().stream().map(Parameter::getArray).toList();
        try (NDScope scope = new NDScope();
                NDManager manager = weights.get(0).getManager().newSubManager()) {
            scope.suppressNotUsedWarning();
            StepMetrics metrics = new StepMetrics(manager);
            Gradients gradients = new Gradients(Map.of());
            for (int i = 0; i < config.accumulation() && batches.hasNext(); i++) {
                Batch loaded = load(batches);
                int weight = isAccumulating() ? loaded.images().size() : 1;
                try (NDManager scratch = manager.newSubManager();
                        Tape tape = Autograd.record(weights)) {
                    Losses losses = forward(loaded, epoch, scratch);
                    metrics.add(losses);
                    NDArray loss = total(losses, (float) (lossScale * weight), scratch);
                    Gradients found = Gradients.of(tape.backward(loss), parameters.keySet());
                    found.attach(manager);
                    metrics.add(loaded, losses.terms().keySet(), losses.metrics().keySet(), found);
                    gradients = gradients.plus(found).attach(manager);
                }
            }
            Set<String> withGradient = gradients.arrays().keySet();
            if (ranks.worldSize() > 1) {
                gradients = gradients.sum(ranks, parameters, manager);
            }
            StepMetrics.StepValues read = metrics.read(isAccumulating(), gradients);
            StepTotals all = StepTotals.of(read.batches(), withGradient, learningRate, ranks);
            boolean isFinite = all.isFinite() && Float.isFinite(read.norms().total());
            GradScaler scaler = isScaled() ? state.scaler().update(!isFinite) : state.scaler();
            if (!isFinite && (!isScaled() || scaler.isExhausted())) {
                throw divergence(read, all, state.iteration() + 1);
            }
            float factor = (float) (isAccumulating() ? lossScale * all.images() : lossScale);
            Gradients.Norms norms = read.norms().unscaled(factor);
            float clipping = config.maxGradientNorm().map(norms::clipFactor).orElse(1f);
            ModelEma.Update averages =
                    ema.map(each -> each.update(state.iteration())).orElse(ModelEma.Update.NONE);
            if (Float.isFinite(norms.total())) {
                Gradients followed = gradients.select(all.withGradient());
                optimizer.step(followed, clipping / factor, all.learningRate(), averages);
                previousNorms = norms.byParameter();
            } else {
                averages.apply();
            }
            unload();
            return result(all, norms.total(), lossScale, scaler);
        } finally {
            batch.ifPresent(Batch::close);
        }
    }

    private boolean isScaled() {
        return config.precision() == Precision.FLOAT16;
    }

    private boolean isAccumulating() {
        return config.accumulation() * ranks.worldSize() > 1;
    }

    /** Loads the next batch, which stays open until another is loaded or the step ends. */
    private Batch load(Iterator<Batch> batches) {
        unload();
        batch = Optional.of(batches.next());
        return batch.get();
    }

    private void unload() {
        batch.ifPresent(Batch::close);
        batch = Optional.empty();
    }

    /** Returns the batch that was being processed when the step failed. */
    Optional<Batch> failedBatch() {
        return batch;
    }

    /** Returns the losses; random layers of the model are seeded by run, epoch and image. */
    private Losses forward(Batch input, int epoch, NDManager scratch) {
        return SampleRandom.call(
                config.seed(),
                epoch,
                distinct(input.images()),
                () ->
                        Autocast.call(
                                config.precision(),
                                scratch.getDevice(),
                                () -> model.apply(input, scratch)));
    }

    /** Returns the image ids; repeated images of a batch get new ids. */
    static long[] distinct(List<ImageInfo> images) {
        Map<Long, Integer> times = new HashMap<>();
        long[] ids = new long[images.size()];
        for (int i = 0; i < ids.length; i++) {
            long id = images.get(i).id();
            int time = times.merge(id, 1, Integer::sum);
            ids[i] = time == 1 ? id : SeededRandom.of(id, time).nextLong();
        }
        return ids;
    }

    /** Returns the scaled sum of the losses. Closes the losses to free the autograd graph. */
    private static NDArray total(Losses losses, float factor, NDManager scratch) {
        NDArray total = Scope.array(() -> losses.total().mul(Tensors.of(scratch, factor)));
        losses.scalars().forEach(NDArray::close);
        return total;
    }

    /** Returns the error if this rank diverged; otherwise waits for a rank that did, and throws. */
    private RuntimeException divergence(StepMetrics.StepValues read, StepTotals all, long step) {
        boolean isOnOtherRank = read.hasFiniteBatches() && !all.isFinite();
        if (isOnOtherRank || read.batches().isEmpty()) {
            ranks.barrier();
        }
        return new Divergence(step, all.learningRate(), previousNorms, config.precision())
                .toException(read, batch.orElseThrow());
    }

    private Result result(StepTotals all, double norm, double lossScale, GradScaler scaler) {
        Map<String, Double> metrics = all.means(all.metrics());
        if (isScaled()) {
            metrics.put("loss_scale", lossScale);
        }
        return new Result(all.means(all.losses()), metrics, norm, all.images(), scaler);
    }
}
