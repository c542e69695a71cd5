package dev.saccade.train;

import static java.util.stream.Collectors.joining;

import ai.djl.Device;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.Size;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What tensors hold at most during a training step, and what other settings would save.
 *
 * <p>It is found by steps on the CPU on small images: weights, gradients and the state of the
 * optimizer stay the same, activations grow with the pixels of all images.
 *
 * @param bytes of the step, on images of its size
 * @param savings of other settings, the best first
 */
record StepMemory(long bytes, List<Saving> savings) implements Printable.Lines {

    /** Which has memory to spare where that of a GPU ran out. */
    private static final Device PROCESSOR = Device.cpu();

    /** Large enough for activations to outweigh the gradients, which take their place. */
    private static final Size SMALL = new Size(192, 192);

    private static final Size LARGE = new Size(288, 288);

    /** Statistics over a batch want more than one image. */
    private static final int IMAGES = 2;

    /** Settings that cost time or learn less, for less memory; not all models have all of them. */
    private static final List<String> SETTINGS =
            List.of(
                    "model.backbone.activation_checkpointing=true",
                    "precision=bfloat16",
                    "model.backbone.frozen_stages=2");

    /** Savings below this share are within the error of the estimate. */
    private static final double LEAST_SAVING = 0.05;

    /**
     * What another setting would do.
     *
     * @param setting as for {@code --set}, or in words
     * @param bytes of the step with it
     */
    record Saving(String setting, long bytes) {}

    /**
     * How the need of a step grows.
     *
     * @param fixed bytes
     * @param perPixel bytes
     */
    private record Growth(long fixed, long perPixel) {

        static Growth measure(RunConfig config, int classes) {
            try (TrialRun run = new TrialRun(config, classes, PROCESSOR)) {
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

    /**
     * Measures a step.
     *
     * @param classes how many labels there are
     * @param images of a batch
     * @param size of the network input
     * @return nothing, where nobody counts the memory of tensors
     */
    static Optional<StepMemory> measure(RunConfig config, int classes, int images, Size size) {
        if (TensorMemory.of(PROCESSOR).isEmpty()) {
            return Optional.empty();
        }
        Growth growth = Growth.measure(config, classes);
        long bytes = growth.bytes(images * size.area());
        if (bytes == 0) {
            return Optional.empty();
        }
        List<Saving> savings = new ArrayList<>();
        if (images > 1) {
            int fewer = images / 2;
            int steps = config.accumulation() * ((images + fewer - 1) / fewer);
            String setting =
                    Text.format(
                            "data.batch_size=%d, for which accumulation=%d makes up", fewer, steps);
            savings.add(new Saving(setting, growth.bytes(fewer * size.area())));
        }
        String smaller = "images of half the pixels, by resize in data.train_transforms";
        savings.add(new Saving(smaller, growth.bytes(images * size.area() / 2)));
        for (String setting : SETTINGS) {
            try {
                Growth other = Growth.measure(config.with(setting), classes);
                savings.add(new Saving(setting, other.bytes(images * size.area())));
            } catch (RuntimeException | OutOfMemoryError e) {
                // Not all models have all settings.
            }
        }
        savings.removeIf(saving -> saving.bytes() >= (1 - LEAST_SAVING) * bytes);
        savings.sort(Comparator.comparingLong(Saving::bytes));
        return Optional.of(new StepMemory(bytes, List.copyOf(savings)));
    }

    /** Returns a line for each saving. */
    @Override
    public String toString() {
        return savings.stream()
                .map(
                        saving ->
                                Text.format(
                                        "%n  %-10s with %s",
                                        DeviceMemory.text(saving.bytes()), saving.setting()))
                .collect(joining());
    }
}
