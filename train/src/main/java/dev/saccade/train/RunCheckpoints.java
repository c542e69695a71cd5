package dev.saccade.train;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.schedules.RunLength;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Saves a run so that whatever happens, a crash or a full disk included, a whole earlier state
 * stays, and brings it back.
 */
public final class RunCheckpoints {

    private static final String OPTIMIZER = "optimizer.";
    private static final String HOOKS = "hooks.";

    /** The weights behind averages, which have the names of the weights. */
    private static final String TRAINED = "ema.trained.";

    /** What tells a state from other files; that its values are right is told by its checksum. */
    private record Content(Map<String, String> metadata, Set<String> tensors) {

        static Content of(Checkpoint checkpoint) {
            return new Content(
                    ImmutableMap.copyOf(checkpoint.metadata()),
                    ImmutableSet.copyOf(checkpoint.tensors().keySet()));
        }

        /** Returns that of a file, if it is whole. */
        static Optional<Content> read(Path file) {
            try {
                return Optional.of(of(SafeTensors.read(file)));
            } catch (SaccadeException e) {
                return Optional.empty();
            }
        }
    }

    private final RunFolder folder;
    private final Checkpointed content;
    private final Map<String, String> identity;
    private final RunLayout layout;
    private final ProcessGroup ranks;

    /** What {@link RunFolder#last} holds, once this process has saved it or resumed from it. */
    private Optional<Content> last = Optional.empty();

    /**
     * Saves to a folder, which rank 0 alone looks at.
     *
     * @param identity metadata that every checkpoint of the run carries and that tell it from other
     *     runs
     * @param layout of the run now
     */
    public RunCheckpoints(
            RunFolder folder,
            Checkpointed content,
            Map<String, String> identity,
            RunLayout layout,
            ProcessGroup ranks) {
        this.folder = folder;
        this.content = content;
        this.identity = ImmutableMap.copyOf(identity);
        this.layout = layout;
        this.ranks = ranks;
    }

    /** Returns where the run keeps its files. */
    RunFolder folder() {
        return folder;
    }

    /**
     * Saves all that the run needs to go on; the state saved before is kept beside it. A file that
     * was damaged or replaced meanwhile, or that could not be resumed from, never takes the place
     * of a state that can.
     */
    void saveLast(RunState state) {
        if (ranks.rank() > 0) {
            return;
        }
        Map<String, Tensor> tensors = new LinkedHashMap<>(weights(state).tensors());
        content.trained().forEach((name, array) -> tensors.put(TRAINED + name, Tensor.of(array)));
        optimizerState().forEach((name, array) -> tensors.put(OPTIMIZER + name, Tensor.of(array)));
        content.hooks().state().forEach((name, tensor) -> tensors.put(HOOKS + name, tensor));
        Checkpoint checkpoint = new Checkpoint(tensors, metadata(state));
        if (last.isPresent() && last.equals(Content.read(folder.last()))) {
            SafeTensors.write(folder.last(), folder.previous(), checkpoint);
        } else {
            SafeTensors.write(folder.last(), checkpoint);
        }
        last = Optional.of(Content.of(checkpoint));
    }

    /**
     * Returns whether a state is what {@link #saveLast} has saved last, or what was resumed from.
     */
    boolean isSaved(RunState state) {
        return last.filter(content -> content.metadata().equals(metadata(state))).isPresent();
    }

    /** Saves the weights that did best in evaluation. */
    void saveBest(RunState state) {
        saveWeights(folder.bestWeights(), state);
    }

    /** Saves weights that stay, of the end of an epoch or of a point within one. */
    void keepWeights(RunState state, RunLength length) {
        boolean isEndOfEpoch = state.iteration() % length.iterationsPerEpoch() == 0;
        saveWeights(
                isEndOfEpoch
                        ? folder.epoch(length.epoch(state.iteration()))
                        : folder.iteration(state.iteration()),
                state);
    }

    /** Saves the weights alone. */
    void saveWeights(Path file, RunState state) {
        if (ranks.rank() == 0) {
            SafeTensors.write(file, weights(state));
        }
    }

    private Checkpoint weights(RunState state) {
        Checkpoint trained = Checkpoint.of(content.model(), metadata(state));
        Map<String, Tensor> tensors = new LinkedHashMap<>(trained.tensors());
        content.averages().forEach((name, array) -> tensors.put(name, Tensor.of(array)));
        return new Checkpoint(tensors, trained.metadata());
    }

    private Map<String, NDArray> optimizerState() {
        return content.optimizer().state();
    }

    private Map<String, String> metadata(RunState state) {
        Map<String, String> metadata = new TreeMap<>(identity);
        metadata.putAll(layout.toMetadata());
        metadata.putAll(state.toMetadata());
        return metadata;
    }

    /**
     * Gives all ranks what rank 0 begins with: the weights that the model has.
     *
     * @return the beginning of a run
     */
    RunState start() {
        ranks.broadcast(content.arrays(), 0);
        return RunState.START;
    }

    /**
     * Brings weights, averages, optimizer and hooks back, on all ranks, and returns how far the run
     * was.
     *
     * @param note told when the newest state is damaged and the one before is taken, and when the
     *     run had other ranks
     * @throws SaccadeException of kind user, if there is no state that can be used
     */
    RunState resume(Consumer<String> note) {
        if (ranks.worldSize() == 1) {
            return read(note);
        }
        if (ranks.rank() == 0) {
            RunState state = read(note);
            ranks.broadcast(content.arrays(), 0);
            ranks.broadcast(new ResumedState(state, content.hooks().state()).toBytes(), 0);
            return state;
        }
        ranks.broadcast(content.arrays(), 0);
        ResumedState told = ResumedState.parse(ranks.broadcast(new byte[0], 0));
        content.hooks().restore(told.hooks());
        return told.state();
    }

    private RunState read(Consumer<String> note) {
        Problems problems = new Problems();
        for (Path file : List.of(folder.last(), folder.previous())) {
            if (!Files.exists(file)) {
                continue;
            }
            try {
                Checkpoint checkpoint = Checkpoints.open(file);
                RunState state = restore(file, checkpoint, note);
                if (file.equals(folder.last())) {
                    last = Optional.of(Content.of(checkpoint));
                }
                problems.messages()
                        .forEach(m -> note.accept(m + "; resuming from the state before"));
                return state;
            } catch (SaccadeException e) {
                problems.add("%s", e);
            }
        }
        problems.throwIfAny(folder.path() + ": cannot be resumed");
        throw SaccadeException.user(
                "%s: nothing to resume from, the run was never saved; start it anew",
                folder.path());
    }

    private RunState restore(Path file, Checkpoint checkpoint, Consumer<String> note) {
        requireSameRun(file, checkpoint.metadata());
        Map<String, Tensor> weights = new LinkedHashMap<>();
        Map<String, Tensor> trained = new LinkedHashMap<>();
        Map<String, Tensor> kept = new LinkedHashMap<>();
        checkpoint
                .tensors()
                .forEach(
                        (name, tensor) -> {
                            if (name.startsWith(HOOKS)) {
                                kept.put(name.substring(HOOKS.length()), tensor);
                            } else if (name.startsWith(TRAINED)) {
                                trained.put(name.substring(TRAINED.length()), tensor);
                            } else if (!name.startsWith(OPTIMIZER)) {
                                weights.put(name, tensor);
                            }
                        });
        RunState saved = RunState.fromMetadata(file, checkpoint.metadata());
        RunState state = layout.translate(file, checkpoint.metadata(), saved, note);
        requireSameAverages(file, trained.keySet());
        weights.putAll(trained);
        Weights.restore(new Checkpoint(weights, Map.of()), content.model());
        copy(file, checkpoint, "", content.averages());
        copy(file, checkpoint, OPTIMIZER, optimizerState());
        content.hooks().restore(kept);
        return state;
    }

    private static void copy(
            Path file, Checkpoint checkpoint, String prefix, Map<String, NDArray> arrays) {
        arrays.forEach(
                (name, array) -> {
                    Tensor tensor = checkpoint.tensors().get(prefix + name);
                    if (tensor == null || !tensor.shape().equals(array.getShape())) {
                        throw SaccadeException.user(
                                "%s: has no %s of the right shape; it is of another optimizer or"
                                        + " model",
                                file, prefix + name);
                    }
                    tensor.copyTo(array);
                });
    }

    private void requireSameAverages(Path file, Set<String> names) {
        if (!names.equals(content.averages().keySet())) {
            throw SaccadeException.user(
                    "%s: holds %s averages, the ema of this config makes %s; resume with the ema"
                            + " that the run had, or start a new run with init_from set to this file",
                    file, names.size(), content.averages().size());
        }
    }

    private void requireSameRun(Path file, Map<String, String> metadata) {
        identity.forEach(
                (key, value) -> {
                    if (!value.equals(metadata.get(key)) && !isSameModel(file, key, metadata)) {
                        throw SaccadeException.user(
                                "%s: is of another run, %s; resume with the data, the seed and the"
                                        + " model that the run had, or start a new run with"
                                        + " init_from set to this file",
                                file, changed(key));
                    }
                });
    }

    /** Returns what has become of the data, the seed or the model, in the words of a config. */
    private static String changed(String key) {
        return switch (key) {
            case "run.data" -> "the photographs or labels of data.train have changed";
            case "run.seed" -> "its seed is not that of this config";
            case ModelSpec.KEY -> "its model is not that of this config";
            default -> "its " + key + " is not the same";
        };
    }

    /** Returns whether it is the model that is told in other words, as by an earlier version. */
    private boolean isSameModel(Path file, String key, Map<String, String> metadata) {
        if (!key.equals(ModelSpec.KEY)) {
            return false;
        }
        try {
            return ModelSpec.find(metadata, key).equals(ModelSpec.find(identity, key));
        } catch (SaccadeException e) {
            throw SaccadeException.user(
                    e, "%s: is of another run, its model cannot be read: %s", file, e);
        }
    }
}
