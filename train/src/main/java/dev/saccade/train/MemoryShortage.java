package dev.saccade.train;

import ai.djl.Device;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.train.config.RunConfig;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * A training step that memory was missing for: says what it needed, what there is, and which
 * settings would save how much.
 *
 * @param device that it was computed on
 * @param batch that it was computed on
 */
record MemoryShortage(Device device, TrainStep.Pixels batch) {

    /**
     * Returns what is to be told of an error, if it is that memory of the device ran out.
     *
     * @param config of the run
     * @param classes how many labels there are
     * @param note told before it takes long to find out
     */
    Optional<SaccadeException> tell(
            RuntimeException error, RunConfig config, int classes, Consumer<String> note) {
        Optional<String> reason = OutOfMemory.reason(error).filter(words -> isTold(error));
        if (reason.isEmpty()) {
            return Optional.empty();
        }
        // Asked before the measurement, which takes memory itself.
        String there = there();
        note.accept("memory ran out; steps on small images show what it takes, for a minute or so");
        try {
            return StepMemory.measure(config, classes, batch.images(), batch.size())
                    .map(
                            step ->
                                    SaccadeException.user(
                                            error,
                                            "out of memory: a step on %d x %s takes about %s, and"
                                                    + " %s (%s); it would take about%s",
                                            batch.images(),
                                            batch.size(),
                                            DeviceMemory.text(step.bytes()),
                                            there,
                                            reason.get(),
                                            step));
        } catch (RuntimeException | OutOfMemoryError e) {
            // The general advice has to do.
            return Optional.empty();
        }
    }

    private static boolean isTold(RuntimeException error) {
        return !OutOfMemory.isOfHeap(error) && OutOfMemory.IN_TRAINING.of(error).isPresent();
    }

    private String there() {
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
