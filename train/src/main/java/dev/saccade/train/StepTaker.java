package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Takes optimiser steps: forward, backward, clip, update.
 *
 * <p>A step over several batches follows the mean over all their images, also where the last group
 * of an epoch has fewer batches: it equals the step over one large batch. All memory of a step is
 * freed at its end.
 */
final class StepTaker {

    private final BatchLosses model;
    private final Optimizer optimizer;
    private final Map<String, Parameter> parameters;
    private final int accumulation;
    private final Optional<Double> maxGradientNorm;
    private Map<String, Float> norms = Map.of();

    /**
     * What a step was like.
     *
     * @param losses loss terms by name, means over the images
     * @param figures what else the model tells of how it learns, by name, means over the images
     * @param gradientNorm norm of all gradients before clipping
     * @param images images learned from
     */
    record Taken(
            Map<String, Double> losses,
            Map<String, Double> figures,
            double gradientNorm,
            int images) {}

    /** What the model says of a batch, by name. */
    private record Said(Map<String, Double> losses, Map<String, Double> figures) {

        Said() {
            this(new LinkedHashMap<>(), new LinkedHashMap<>());
        }
    }

    /** The sum over the batches of a step so far, each weighted by its images. */
    private static final class Sum {

        private final Said said = new Said();
        private Gradients gradients = new Gradients(Map.of());
        private Gradients.Norms norms = gradients.norms();
        private int images;
    }

    StepTaker(
            BatchLosses model,
            Optimizer optimizer,
            int accumulation,
            Optional<Double> maxGradientNorm) {
        this.model = model;
        this.optimizer = optimizer;
        this.parameters = optimizer.parameters();
        this.accumulation = accumulation;
        this.maxGradientNorm = maxGradientNorm;
    }

    /**
     * Takes a step.
     *
     * @param batches at least one; up to {@code accumulation} are taken
     * @param iteration optimiser steps, this one included, for messages
     */
    Taken step(Iterator<Batch> batches, long iteration, double learningRate) {
        Divergence divergence = new Divergence(iteration, learningRate, norms);
        NDManager owner = parameters.values().iterator().next().getArray().getManager();
        try (NDScope scope = new NDScope();
                NDManager manager = owner.newSubManager()) {
            scope.suppressNotUsedWarning();
            Sum sum = new Sum();
            for (int i = 0; i < accumulation && batches.hasNext(); i++) {
                try (Batch batch = batches.next()) {
                    add(sum, batch, manager, divergence);
                }
            }
            Gradients gradients =
                    accumulation == 1 ? sum.gradients : sum.gradients.times(1f / sum.images);
            Gradients.Norms all = accumulation == 1 ? sum.norms : gradients.norms();
            float factor = maxGradientNorm.map(all::clipping).orElse(1f);
            optimizer.step(gradients, factor, learningRate);
            norms = all.byParameter();
            return new Taken(
                    mean(sum.said.losses, sum.images),
                    mean(sum.said.figures, sum.images),
                    all.total(),
                    sum.images);
        }
    }

    private static Map<String, Double> mean(Map<String, Double> sums, int images) {
        return ImmutableMap.copyOf(Maps.transformValues(sums, value -> value / images));
    }

    private static void add(Map<String, Double> sums, Map<String, Double> values, int images) {
        values.forEach((name, value) -> sums.merge(name, value * images, Double::sum));
    }

    private void add(Sum sum, Batch batch, NDManager manager, Divergence divergence) {
        int images = batch.images().size();
        try (NDManager scratch = manager.newSubManager()) {
            Said said = new Said();
            Gradients gradients =
                    Gradients.of(() -> loss(batch, scratch, divergence, said), parameters);
            Gradients.Norms found = gradients.norms();
            if (!Float.isFinite(found.total())) {
                throw divergence.ofGradients(found.byParameter(), batch);
            }
            sum.gradients = sum.gradients.plus(gradients).attach(manager);
            sum.norms = found;
            add(sum.said.losses, said.losses, images);
            add(sum.said.figures, said.figures, images);
            sum.images += images;
        }
    }

    private NDArray loss(Batch batch, NDManager scratch, Divergence divergence, Said said) {
        Losses losses = model.of(batch, scratch);
        losses.terms().forEach((name, term) -> said.losses.put(name, value(term)));
        if (!said.losses.values().stream().allMatch(Double::isFinite)) {
            throw divergence.ofLosses(said.losses, batch);
        }
        losses.figures().forEach((name, figure) -> said.figures.put(name, value(figure)));
        losses.figures().values().forEach(NDArray::close);
        int images = batch.images().size();
        NDArray total =
                Scope.array(
                        () ->
                                accumulation == 1
                                        ? losses.total()
                                        : losses.total().mul(Tensors.of(scratch, images)));
        losses.terms().values().stream().filter(term -> term != total).forEach(NDArray::close);
        return total;
    }

    private static double value(NDArray scalar) {
        return scalar.toFloatArray()[0];
    }
}
