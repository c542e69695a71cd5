package dev.saccade.train;

import ai.djl.Device;

import com.google.common.base.Ascii;

import dev.saccade.core.Count;
import dev.saccade.core.Devices;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;

import java.util.List;

/** Tells at the beginning of a run what it is about. */
final class RunNotes implements Hook {

    private final RunConfig config;
    private final Device device;
    private final Dataset dataset;
    private final List<String> notes;
    private final ProcessGroup ranks;

    /**
     * Tells of a run.
     *
     * @param device what computes
     * @param dataset what is learned from
     * @param notes what is told besides, first
     */
    RunNotes(
            RunConfig config,
            Device device,
            Dataset dataset,
            List<String> notes,
            ProcessGroup ranks) {
        this.config = config;
        this.device = device;
        this.dataset = dataset;
        this.notes = notes;
        this.ranks = ranks;
    }

    @Override
    public void beforeTrain(Run run) {
        notes.forEach(run::note);
        run.note(computing());
        run.note(
                Text.format(
                        "%s, %s, %s a step",
                        Count.of(dataset.size(), "photograph"),
                        Count.of(dataset.classes().size(), "class"),
                        Count.of(imagesPerStep(), "image")));
        if (config.data().batchSize() > dataset.size()) {
            run.note(
                    Text.format(
                            "data.batch_size is %d, but the data set has %s: a batch has no more",
                            config.data().batchSize(), Count.of(dataset.size(), "photograph")));
        }
        config.referenceBatch()
                .filter(images -> images != imagesPerStep())
                .ifPresent(images -> run.note(scaled(images)));
        if (ranks.worldSize() > 1 && config.referenceBatch().isEmpty()) {
            run.note(
                    Text.format(
                                    "learning rate %s as the config has it, for any number of ranks;",
                                    config.optimizer().learningRate())
                            + " reference_batch, the images that it is stated for, scales it");
        }
        if (run.iteration() > 0) {
            run.note("resuming after step " + run.iteration());
        }
    }

    private String computing() {
        String averages =
                config.ema()
                        .map(ema -> "; measured are averages of the weights, decay " + ema.decay())
                        .orElse("");
        String together =
                ranks.worldSize() == 1 ? "" : Text.format("%s ranks, ", ranks.worldSize());
        return Text.format(
                "computing on %s%s in %s%s",
                together,
                Devices.here().describe(device),
                Ascii.toLowerCase(config.precision().name()),
                averages);
    }

    private int imagesPerStep() {
        return config.imagesPerStep(ranks.worldSize());
    }

    private String scaled(int images) {
        return Text.format(
                "learning rate %s is stated for %s a step: scaled to %s (reference_batch: null"
                        + " leaves it)",
                config.optimizer().learningRate(),
                Count.of(images, "image"),
                config.learningRate(ranks.worldSize()));
    }
}
