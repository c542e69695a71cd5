package dev.saccade.train;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * How the batches of an epoch are parted among ranks and steps. With as many batches a step, other
 * ranks take the same steps; with more or fewer, a run can go on from the end of an epoch only.
 *
 * @param ranks that each take their batches
 * @param batchesPerStep of all ranks
 * @param stepsPerEpoch optimizer steps
 */
public record RunLayout(int ranks, int batchesPerStep, long stepsPerEpoch) {

    private static final String RANKS = "run.ranks";
    private static final String BATCHES_PER_STEP = "run.batches_per_step";
    private static final String STEPS_PER_EPOCH = "run.steps_per_epoch";

    /** Returns that of a run with so many batches in an epoch. */
    public static RunLayout of(RunConfig config, int batchesPerEpoch, int ranks) {
        return new RunLayout(
                ranks,
                config.batchesPerStep(ranks),
                config.length(batchesPerEpoch, ranks).iterationsPerEpoch());
    }

    Map<String, String> toMetadata() {
        return ImmutableMap.of(
                RANKS, Integer.toString(ranks),
                BATCHES_PER_STEP, Integer.toString(batchesPerStep),
                STEPS_PER_EPOCH, Long.toString(stepsPerEpoch));
    }

    /** Returns that of a checkpoint; earlier versions knew one rank, and told nothing. */
    private static Optional<RunLayout> of(Path file, Map<String, String> metadata) {
        if (!metadata.containsKey(RANKS)) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new RunLayout(
                            Integer.parseInt(metadata.get(RANKS)),
                            Integer.parseInt(metadata.get(BATCHES_PER_STEP)),
                            Long.parseLong(metadata.get(STEPS_PER_EPOCH))));
        } catch (NumberFormatException e) {
            throw SaccadeException.user(
                    e, "%s: does not tell how many ranks the run had: %s", file, e.getMessage());
        }
    }

    /**
     * Returns the state of a checkpoint in the steps of this layout.
     *
     * @param metadata of the checkpoint
     * @param note told if the run had another layout
     * @throws SaccadeException of kind user, if it is in the middle of an epoch that would have
     *     other steps
     */
    RunState translate(
            Path file, Map<String, String> metadata, RunState state, Consumer<String> note) {
        RunLayout before = of(file, metadata).orElse(this);
        if (before.equals(this)) {
            return state;
        }
        String change = Text.format("the run had %s, now it has %s", before.told(), told());
        if (before.batchesPerStep == batchesPerStep && before.stepsPerEpoch == stepsPerEpoch) {
            note.accept(
                    change
                            + "; its steps stay the same, to rounding, but for batch"
                            + " normalization");
            return state;
        }
        if (state.iteration() % before.stepsPerEpoch != 0) {
            throw SaccadeException.user(
                    "%s: is step %d, in the middle of an epoch of %d steps, and %s; go on with %s as"
                            + " before, or set accumulation so that ranks times accumulation is %d",
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
                        "%s; step %d, the end of epoch %d, is step %d now",
                        change, state.iteration(), epochs, epochs * stepsPerEpoch));
        return state.at(epochs * stepsPerEpoch);
    }

    private String told() {
        return Text.format(
                "%s and %s a step", Count.of(ranks, "rank"), Count.of(batchesPerStep, "batch"));
    }
}
