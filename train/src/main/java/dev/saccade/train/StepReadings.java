package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Gradients.Norms;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The losses and the norms of the gradients of the batches of an optimizer step. They stay on the
 * device until all are there: a GPU is waited for once a step.
 */
final class StepReadings {

    private static final Script JOIN =
            Script.compile(
                    "(values: List[Tensor]) -> Tensor",
                    """
                    flat = annotate(List[Tensor], [])
                    for value in values:
                      flat.append(torch.reshape(torch.detach(value), [-1]))
                    return torch.cat(flat)
                    """);

    /** What a batch has to tell, in the order of its values. */
    private record Part(Batch batch, Set<String> terms, Set<String> metrics, Gradients gradients) {}

    /**
     * What a batch has told.
     *
     * @param norms of the gradients by its loss, as it was scaled
     */
    record OfBatch(
            Batch batch, Map<String, Double> losses, Map<String, Double> metrics, Norms norms) {

        boolean hasFiniteLosses() {
            return losses.values().stream().allMatch(Double::isFinite);
        }

        boolean isFinite() {
            return hasFiniteLosses() && Float.isFinite(norms.total());
        }
    }

    /**
     * What a step has told.
     *
     * @param norms of the gradients that the step follows, as the losses were scaled and summed
     */
    record OfStep(List<OfBatch> batches, Norms norms) {

        boolean hasFiniteBatches() {
            return batches.stream().allMatch(OfBatch::isFinite);
        }
    }

    private final NDManager manager;
    private final List<Part> parts = new ArrayList<>();
    private final List<NDArray> values = new ArrayList<>();
    private Losses losses;

    /**
     * Begins a step.
     *
     * @param manager owns the arrays of the whole step
     */
    StepReadings(NDManager manager) {
        this.manager = manager;
    }

    /** Adds the losses of a batch; its gradients come next. */
    void add(Losses ofBatch) {
        losses = ofBatch;
        ofBatch.scalars().forEach(scalar -> keep(scalar.stopGradient()));
    }

    /** Adds the gradients of the batch whose losses came last. */
    void add(Batch batch, Gradients gradients) {
        parts.add(new Part(batch, losses.terms().keySet(), losses.metrics().keySet(), gradients));
        measure(gradients);
    }

    private void measure(Gradients gradients) {
        if (!gradients.arrays().isEmpty()) {
            keep(gradients.measure());
        }
    }

    private void keep(NDArray array) {
        array.attach(manager);
        values.add(array);
    }

    /**
     * Waits for the device; returns what it has told.
     *
     * @param sum the gradients that the step follows, where they are of more than one batch
     */
    OfStep read(Optional<Gradients> sum) {
        sum.ifPresent(this::measure);
        FloatBuffer read = FloatBuffer.wrap(join());
        List<OfBatch> batches = new ArrayList<>();
        for (Part part : parts) {
            batches.add(
                    new OfBatch(
                            part.batch,
                            named(part.terms, read),
                            named(part.metrics, read),
                            norms(part.gradients, read)));
        }
        return new OfStep(
                batches,
                sum.map(gradients -> norms(gradients, read))
                        .orElseGet(() -> batches.get(0).norms()));
    }

    private float[] join() {
        return NoGrad.call(
                () -> {
                    try (NDList joined = JOIN.runLists(List.of(values))) {
                        return Tensors.readFloats(joined.singletonOrThrow());
                    }
                });
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
        float[] found = new float[1 + gradients.arrays().size()];
        values.get(found);
        return gradients.norms(found);
    }
}
