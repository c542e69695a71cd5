package dev.saccade.train;

import dev.saccade.core.Count;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;

import java.util.List;
import java.util.Locale;

/** Tells at the beginning of a run what it is about. */
final class RunNotes implements Hook {

    private final RunConfig config;
    private final Dataset dataset;
    private final List<String> notes;

    /**
     * Tells of a run.
     *
     * @param dataset what is learned from
     * @param notes what is told besides, first
     */
    RunNotes(RunConfig config, Dataset dataset, List<String> notes) {
        this.config = config;
        this.dataset = dataset;
        this.notes = notes;
    }

    @Override
    public void beforeTrain(Run run) {
        notes.forEach(run::note);
        run.note(
                "%s, %s, %s a step"
                        .formatted(
                                Count.of(dataset.size(), "photograph"),
                                Count.of(dataset.classes().size(), "class"),
                                Count.of(config.imagesPerStep(), "image")));
        config.referenceBatch()
                .filter(images -> images != config.imagesPerStep())
                .ifPresent(images -> run.note(scaled(images)));
        if (run.iteration() > 0) {
            run.note("resuming after step " + run.iteration());
        }
    }

    private String scaled(int images) {
        return String.format(
                Locale.ROOT,
                "learning rate %s is stated for %s a step: scaled to %s (reference_batch: null"
                        + " leaves it)",
                config.optimizer().learningRate(),
                Count.of(images, "image"),
                config.learningRate());
    }
}
