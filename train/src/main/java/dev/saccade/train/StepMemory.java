package dev.saccade.train;

import static java.util.stream.Collectors.joining;

import ai.djl.Device;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.models.Model;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Explains a training step that ran out of memory: estimates its peak tensor memory and the savings
 * of other settings.
 *
 * <p>Runs steps with small images on the CPU. Weights, gradients and optimizer state have the same
 * size there; activations grow with the number of pixels.
 */
record StepMemory(Device device, int classes, int images, Size size) {

    /** Device for the estimate: the CPU usually has free memory when a GPU is full. */
    private static final Device CPU = Device.cpu();

    /** Image size at which activations, not gradients, determine the peak memory. */
    private static final Size SMALL = new Size(192, 192);

    private static final Size LARGE = new Size(288, 288);

    /** Batch size for the estimate; batch statistics need more than one image. */
    private static final int IMAGES = 2;

    /** Settings that save memory, but cost time, precision or trained layers. */
    private static final List<String> SETTINGS =
            List.of(
                    "model.backbone.activation_checkpointing=true",
                    "precision=bfloat16",
                    "model.backbone.frozen_stages=2");

    /** Minimum saving as a fraction; smaller savings are within the error of the estimate. */
    private static final double MIN_SAVING = 0.05;

    /** Memory of the step with another setting: a {@code --set} argument, or a description. */
    record Saving(String setting, long bytes) {}

    /** Estimated memory of the step, and settings that save memory, largest saving first. */
    record Estimate(long bytes, List<Saving> savings) implements Printable.Lines {

        @Override
        public String toString() {
            return savings.stream()
                    .map(
                            saving ->
                                    Text.format(
                                            "%n  %-10s with %s",
                                            DeviceMemory.text(saving.bytes), saving.setting))
                    .collect(joining());
        }
    }

    /** Memory of a step: a fixed part and bytes per pixel. */
    private record Growth(long fixed, long perPixel) {

        static Growth measure(RunConfig config, int classes) {
            try (TrialRun run = new TrialRun(config, classes, CPU)) {
                long small = run.peakBytes(IMAGES, SMALL);
                long large = run.peakBytes(IMAGES, LARGE);
                long pixels = IMAGES * (LARGE.area() - SMALL.area());
                long perPixel = Math.max(large - small, 0) / pixels;
                long fixed = Math.max(large - perPixel * IMAGES * LARGE.area(), 0);
                return new Growth(fixed, perPixel);
            }
        }

        long bytes(long pixels) {
            return fixed + perPixel * pixels;
        }
    }

    static StepMemory of(Run run, Batch batch) {
        int classes = run.model() instanceof Model<?> model ? model.classes().size() : 1;
        Device device = run.manager().getDevice();
        return new StepMemory(device, classes, batch.images().size(), batch.size());
    }

    /** Returns the error for users, if the device ran out of memory and an estimate is possible. */
    Optional<SaccadeException> explain(
            RuntimeException error, RunConfig config, Consumer<String> note) {
        boolean isOfDevice =
                !OutOfMemory.isJavaHeap(error) && OutOfMemory.TRAINING.of(error).isPresent();
        Optional<String> reason = OutOfMemory.reason(error).filter(words -> isOfDevice);
        if (reason.isEmpty()) {
            return Optional.empty();
        }
        // Read before the estimate, which allocates memory.
        String available = available();
        note.accept(
                "out of memory; estimating the required memory with small images,"
                        + " which takes a minute");
        try {
            return estimate(config)
                    .map(
                            step ->
                                    SaccadeException.user(
                                            error,
                                            "out of memory: a step on %d x %s needs about"
                                                    + " %s, but %s (%s); estimates with other"
                                                    + " settings:%s",
                                            images,
                                            size,
                                            DeviceMemory.text(step.bytes),
                                            available,
                                            reason.get(),
                                            step));
        } catch (RuntimeException | OutOfMemoryError e) {
            // Without an estimate, users see the general advice.
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
                        .map(use -> ", tensors used " + DeviceMemory.text(use.peakBytes()))
                        .orElse("");
        return Devices.name(device) + has + held;
    }

    /** Estimates the memory; empty if tensor memory is not tracked. */
    Optional<Estimate> estimate(RunConfig config) {
        if (TensorMemory.of(CPU).isEmpty()) {
            return Optional.empty();
        }
        long pixels = images * size.area();
        Growth growth = Growth.measure(config, classes);
        long bytes = growth.bytes(pixels);
        if (bytes == 0) {
            return Optional.empty();
        }
        List<Saving> savings = new ArrayList<>();
        if (images > 1) {
            int fewer = images / 2;
            int steps = config.accumulation() * ((images + fewer - 1) / fewer);
            String setting = Text.format("data.batch_size=%d and accumulation=%d", fewer, steps);
            savings.add(new Saving(setting, growth.bytes(fewer * size.area())));
        }
        String smaller = "half the pixels per image (resize in data.train_transforms)";
        savings.add(new Saving(smaller, growth.bytes(pixels / 2)));
        for (String setting : SETTINGS) {
            try {
                Growth other = Growth.measure(config.with(setting), classes);
                savings.add(new Saving(setting, other.bytes(pixels)));
            } catch (RuntimeException | OutOfMemoryError e) {
                // Not all models have all settings.
            }
        }
        savings.removeIf(saving -> saving.bytes >= (1 - MIN_SAVING) * bytes);
        savings.sort(Comparator.comparingLong(Saving::bytes));
        return Optional.of(new Estimate(bytes, List.copyOf(savings)));
    }
}
