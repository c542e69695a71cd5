package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Gradients.Norms;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Losses, metrics and gradient norms of a step, copied to the host once, by {@link #read}. */
final class StepMetrics {

    private record Pending(Batch batch, Set<String> losses, Set<String> metrics, Gradients found) {}

    /** Values of one batch; {@code norms} are gradient norms of its scaled loss. */
    record BatchValues(
            Batch batch, Map<String, Double> losses, Map<String, Double> metrics, Norms norms) {

        boolean hasFiniteLosses() {
            return losses.values().stream().allMatch(Double::isFinite);
        }

        boolean isFinite() {
            return hasFiniteLosses() && Float.isFinite(norms.total());
        }
    }

    /** Values of a step; {@code norms} are gradient norms of the scaled, summed losses. */
    record StepValues(List<BatchValues> batches, Norms norms) {

        boolean hasFiniteBatches() {
            return batches.stream().allMatch(BatchValues::isFinite);
        }
    }

    private final NDManager manager;
    private final List<Pending> pending = new ArrayList<>();
    private final NDList values = new NDList();

    StepMetrics(NDManager manager) {
        this.manager = manager;
    }

    /** Adds the losses of a batch. Call {@code add} with the batch and its gradients next. */
    void add(Losses losses) {
        losses.scalars().forEach(scalar -> keep(scalar.stopGradient()));
    }

    /** Adds the gradients of the batch whose losses were added last. */
    void add(Batch batch, Set<String> losses, Set<String> metrics, Gradients gradients) {
        pending.add(new Pending(batch, losses, metrics, gradients));
        add(gradients);
    }

    private void add(Gradients gradients) {
        if (!gradients.arrays().isEmpty()) {
            keep(gradients.normArray());
        }
    }

    private void keep(NDArray array) {
        array.attach(manager);
        values.add(array);
    }

    /**
     * Copies all added values to the host and returns them.
     *
     * @param summed whether {@code gradients} are sums over several batches; otherwise unused
     */
    StepValues read(boolean summed, Gradients gradients) {
        if (summed) {
            add(gradients);
        }
        FloatBuffer read = FloatBuffer.wrap(NoGrad.call(this::join));
        List<BatchValues> batches = new ArrayList<>();
        for (Pending each : pending) {
            batches.add(
                    new BatchValues(
                            each.batch,
                            named(each.losses, read),
                            named(each.metrics, read),
                            norms(each.found, read)));
        }
        return new StepValues(batches, summed ? norms(gradients, read) : batches.get(0).norms());
    }

    private float[] join() {
        NDList flat = new NDList();
        values.forEach(value -> flat.add(value.reshape(new Shape(-1))));
        return Tensors.readFloats(NDArrays.concat(flat));
    }

    private static Map<String, Double> named(Set<String> names, FloatBuffer values) {
        Map<String, Double> named = new LinkedHashMap<>();
        names.forEach(name -> named.put(name, (double) values.get()));
        return named;
    }

    private static Norms norms(Gradients gradients, FloatBuffer values) {
        if (gradients.arrays().isEmpty()) {
            return new Norms(0, Map.of());
        }
        float[] norms = new float[1 + gradients.arrays().size()];
        values.get(norms);
        return gradients.norms(norms);
    }
}
