package dev.saccade.train.checkpoint;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Division of an epoch among ranks and steps. {@code batchesPerStep} includes the batches of all
 * ranks; if this number changes, a run can only resume at the end of an epoch.
 */
public record RunLayout(int ranks, int batchesPerStep, long stepsPerEpoch) {

    public static RunLayout of(RunConfig config, int batchesPerEpoch, int ranks) {
        return new RunLayout(
                ranks,
                config.batchesPerStep(ranks),
                config.length(batchesPerEpoch, ranks).iterationsPerEpoch());
    }

    public Map<String, String> toMetadata() {
        return ImmutableMap.of(
                "run.ranks", Integer.toString(ranks),
                "run.batches_per_step", Integer.toString(batchesPerStep),
                "run.steps_per_epoch", Long.toString(stepsPerEpoch));
    }

    /** Reads the layout from the metadata of a checkpoint; {@code file} is its name. */
    public static RunLayout of(Path file, Map<String, String> metadata) {
        try {
            return new RunLayout(
                    Integer.parseInt(metadata.get("run.ranks")),
                    Integer.parseInt(metadata.get("run.batches_per_step")),
                    Long.parseLong(metadata.get("run.steps_per_epoch")));
        } catch (NumberFormatException e) {
            throw SaccadeException.user(
                    e, "%s: the number of ranks is missing: %s", file, e.getMessage());
        }
    }

    /**
     * Converts the state of a checkpoint to the steps of this layout.
     *
     * @param note receives a log line if the layout has changed
     * @throws SaccadeException of kind user, if the step is inside an epoch whose division into
     *     steps has changed
     */
    public RunState translate(
            Path file, Map<String, String> metadata, RunState state, Consumer<String> note) {
        RunLayout before = of(file, metadata);
        if (before.equals(this)) {
            return state;
        }
        String change = Text.format("the run had %s, now it has %s", before.text(), text());
        if (before.batchesPerStep == batchesPerStep && before.stepsPerEpoch == stepsPerEpoch) {
            note.accept(
                    change
                            + "; the steps are equal up to rounding, except for batch"
                            + " normalization");
            return state;
        }
        if (state.iteration() % before.stepsPerEpoch != 0) {
            throw SaccadeException.user(
                    "%s: step %d is inside an epoch of %d steps, but %s; resume with %s,"
                            + " or set accumulation so that ranks times accumulation is %d",
                    file,
                    state.iteration(),
                    before.stepsPerEpoch,
                    change,
                    Count.of(before.ranks, "rank"),
                    before.batchesPerStep);
        }
        long epochs = state.iteration() / before.stepsPerEpoch;
        note.accept(
                Text.format(
                        "%s; step %d, the end of epoch %d, is now step %d",
                        change, state.iteration(), epochs, epochs * stepsPerEpoch));
        return state.withIteration(epochs * stepsPerEpoch);
    }

    private String text() {
        return Text.format(
                "%s and %s per step", Count.of(ranks, "rank"), Count.of(batchesPerStep, "batch"));
    }
}
