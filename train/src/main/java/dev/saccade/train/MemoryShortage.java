package dev.saccade.train;

import ai.djl.Device;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.Model;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Run;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * A training step that may have run out of memory.
 *
 * @param classes of the model
 * @param images of its batch
 * @param size of each image
 */
record MemoryShortage(Device device, int classes, int images, Size size) {

    /** Returns the step of a run that failed on a batch. */
    static MemoryShortage of(Run run, Batch batch) {
        int classes = run.model() instanceof Model<?> model ? model.classes().size() : 1;
        Device device = run.manager().getDevice();
        return new MemoryShortage(device, classes, batch.images().size(), batch.size());
    }

    /**
     * Returns the need of the step and settings that save memory, if an error is that memory of the
     * device ran out.
     *
     * @param note called before the steps that estimate the need
     */
    Optional<SaccadeException> explain(
            RuntimeException error, RunConfig config, Consumer<String> note) {
        boolean isOfDevice =
                !OutOfMemory.isOfHeap(error) && OutOfMemory.IN_TRAINING.of(error).isPresent();
        Optional<String> reason = OutOfMemory.reason(error).filter(words -> isOfDevice);
        if (reason.isEmpty()) {
            return Optional.empty();
        }
        // Read before the estimate, which needs memory itself.
        String available = available();
        note.accept("memory ran out; steps on small images show what it takes, for a minute or so");
        try {
            return StepMemory.measure(config, classes, images, size)
                    .map(
                            step ->
                                    SaccadeException.user(
                                            error,
                                            "out of memory: a step on %d x %s takes about %s, and"
                                                    + " %s (%s); it would take about%s",
                                            images,
                                            size,
                                            DeviceMemory.text(step.bytes()),
                                            available,
                                            reason.get(),
                                            step));
        } catch (RuntimeException | OutOfMemoryError e) {
            // The general advice has to do.
            return Optional.empty();
        }
    }

    private String available() {
        String has =
                DeviceMemory.of(device)
                        .map(memory -> " has " + DeviceMemory.text(memory.totalBytes()))
                        .orElse(" has less");
        String held =
                TensorMemory.of(device)
                        .map(use -> ", tensors held " + DeviceMemory.text(use.peakBytes()))
                        .orElse("");
        return Devices.name(device) + has + held;
    }
}
