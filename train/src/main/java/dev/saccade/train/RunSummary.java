package dev.saccade.train;

import ai.djl.Device;

import com.google.common.base.Ascii;

import dev.saccade.core.Count;
import dev.saccade.core.Devices;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.schedules.RunLength;

import java.util.ArrayList;
import java.util.List;

/** Summarizes a run for the first lines of its log. */
record RunSummary(RunConfig config, Device device, Dataset dataset, int worldSize) {

    List<String> lines(long iteration, RunLength length) {
        List<String> lines = new ArrayList<>();
        checkLength(iteration, length, lines);
        String ranks = worldSize == 1 ? "" : Text.format("%s ranks, ", worldSize);
        String averages =
                config.ema()
                        .map(ema -> "; evaluating the EMA of the weights, decay " + ema.decay())
                        .orElse("");
        lines.add(
                Text.format(
                        "training on %s%s in %s%s",
                        ranks,
                        Devices.local().describe(device),
                        Ascii.toLowerCase(config.precision().name()),
                        averages));
        int images = config.imagesPerStep(worldSize);
        String inData = Count.of(dataset.epochSize(), "image");
        lines.add(
                Text.format(
                        "%s, %s, %s per step",
                        inData,
                        Count.of(dataset.classes().size(), "class"),
                        Count.of(images, "image")));
        if (config.data().batchSize() > dataset.epochSize()) {
            lines.add(
                    Text.format(
                            "data.batch_size is %d, but the data set has only %s",
                            config.data().batchSize(), inData));
        }
        double stated = config.optimizer().learningRate();
        int reference = config.referenceBatch().orElse(images);
        if (reference != images) {
            lines.add(
                    Text.format(
                            "learning rate %s for %s per step is scaled to %s"
                                    + " (reference_batch: null disables scaling)",
                            stated, Count.of(reference, "image"), config.learningRate(worldSize)));
        } else if (worldSize > 1 && config.referenceBatch().isEmpty()) {
            lines.add(
                    Text.format(
                            "learning rate %s is not scaled to the number of ranks; set"
                                    + " reference_batch to scale it",
                            stated));
        }
        if (iteration > 0) {
            lines.add("resuming after step " + iteration);
        }
        return lines;
    }

    private void checkLength(long iteration, RunLength length, List<String> lines) {
        long steps = length.iterations();
        long warmup = config.schedule().warmupSteps(length);
        if (iteration >= steps) {
            lines.add(
                    Text.format(
                            "all %d steps are already done; increase %s to train longer",
                            steps, config.iterations().isPresent() ? "iterations" : "epochs"));
        } else if (2 * warmup > steps) {
            lines.add(
                    Text.format(
                            "warning: the warm-up takes %d steps, more than half of the"
                                    + " run (%d steps); lower schedule.%s",
                            warmup,
                            steps,
                            config.schedule().warmup().iterations() > 0
                                    ? "warmup.iterations"
                                    : "warmup_epochs"));
        }
    }
}
