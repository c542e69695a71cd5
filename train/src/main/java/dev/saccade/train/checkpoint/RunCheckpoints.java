package dev.saccade.train.checkpoint;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import com.google.common.primitives.Longs;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.schedules.RunLength;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Saves and resumes a run. After a crash or with a full disk, a complete earlier state remains. */
public final class RunCheckpoints {

    private static final String OPTIMIZER = "optimizer.";
    private static final String HOOKS = "hooks.";

    /** Prefix of the trained weights in runs with EMA; names without it hold the averages. */
    private static final String TRAINED = "ema.trained.";

    private static final List<String> NOT_WEIGHTS = List.of(OPTIMIZER, HOOKS, TRAINED);

    /** Metadata and tensor names, to compare states; the file's checksum protects the values. */
    private record Content(Map<String, String> metadata, Set<String> tensors) {

        static Content of(Checkpoint checkpoint) {
            return new Content(
                    ImmutableMap.copyOf(checkpoint.metadata()),
                    ImmutableSet.copyOf(checkpoint.tensors().keySet()));
        }

        /** Returns the content of a file; empty if the file is damaged. */
        static Optional<Content> read(Path file) {
            try {
                return Optional.of(of(SafeTensors.read(file)));
            } catch (SaccadeException e) {
                return Optional.empty();
            }
        }
    }

    private final RunFolder folder;
    private final Checkpointables content;
    private final Map<String, String> identity;
    private final RunLayout layout;
    private final ProcessGroup ranks;

    /** Empty if the run was started by a version that did not store it. */
    private Optional<RunProvenance> provenance;

    /** Content of {@link RunFolder#last}, once this process has saved it or resumed from it. */
    private Optional<Content> last = Optional.empty();

    /** Prepares checkpoints with {@code identity} as metadata. Only rank 0 accesses the folder. */
    public RunCheckpoints(
            RunFolder folder,
            Checkpointables content,
            Map<String, String> identity,
            RunProvenance provenance,
            RunLayout layout,
            ProcessGroup ranks) {
        this.folder = folder;
        this.content = content;
        this.identity = ImmutableMap.copyOf(identity);
        this.provenance = Optional.of(provenance);
        this.layout = layout;
        this.ranks = ranks;
    }

    public RunFolder folder() {
        return folder;
    }

    public Checkpointables content() {
        return content;
    }

    public ProcessGroup ranks() {
        return ranks;
    }

    /**
     * Saves the state to resume from. Keeps the previously saved state too, unless its file was
     * damaged in the meantime.
     */
    public void saveLast(RunState state) {
        if (ranks.rank() > 0) {
            return;
        }
        Map<String, Tensor> tensors = new LinkedHashMap<>(weights(state).tensors());
        content.trained().forEach((name, array) -> tensors.put(TRAINED + name, Tensor.of(array)));
        content.optimizer()
                .state()
                .forEach((name, array) -> tensors.put(OPTIMIZER + name, Tensor.of(array)));
        content.hooks().state().forEach((name, tensor) -> tensors.put(HOOKS + name, tensor));
        Checkpoint checkpoint = new Checkpoint(tensors, metadata(state));
        if (last.isPresent() && last.equals(Content.read(folder.last()))) {
            SafeTensors.write(folder.last(), folder.previous(), checkpoint);
        } else {
            SafeTensors.write(folder.last(), checkpoint);
        }
        last = Optional.of(Content.of(checkpoint));
    }

    /** Returns whether this state is the state last saved or resumed from. */
    public boolean isSaved(RunState state) {
        return last.filter(content -> content.metadata().equals(metadata(state))).isPresent();
    }

    public void saveBest(RunState state) {
        saveWeights(folder.bestWeights(), state);
    }

    /** Saves weights permanently, named after the epoch or iteration. */
    public void keepWeights(RunState state, RunLength length) {
        boolean isEndOfEpoch = state.iteration() % length.iterationsPerEpoch() == 0;
        saveWeights(
                isEndOfEpoch
                        ? folder.epoch(length.epoch(state.iteration()))
                        : folder.iteration(state.iteration()),
                state);
    }

    public void saveWeights(Path file, RunState state) {
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

    private Map<String, String> metadata(RunState state) {
        Map<String, String> metadata = new TreeMap<>(identity);
        metadata.putAll(layout.toMetadata());
        metadata.putAll(state.toMetadata());
        provenance.ifPresent(origin -> metadata.putAll(origin.at(state).toMetadata()));
        return metadata;
    }

    /** Broadcasts the initial weights of rank 0; returns the state before the first step. */
    public RunState start() {
        ranks.broadcast(content.arrays(), 0);
        return RunState.START;
    }

    /** State that rank 0 sends to other ranks besides {@link Checkpointables#arrays}. */
    private record Resumed(Map<String, String> state, Map<String, HookTensor> hooks) {}

    private record HookTensor(ElementType type, List<Long> shape, ByteBuffer data) {

        static HookTensor of(Tensor tensor) {
            List<Long> shape = Longs.asList(tensor.shape().getShape());
            return new HookTensor(tensor.type(), shape, tensor.data());
        }

        Tensor tensor() {
            return new Tensor(type, new Shape(shape), data);
        }
    }

    /**
     * Restores weights, EMA, optimizer and hooks on all ranks, and returns the progress.
     *
     * @param note receives log lines, for example that the newest state is damaged
     * @throws SaccadeException of kind user, if no state is usable
     */
    public RunState resume(Consumer<String> note) {
        boolean isFirst = ranks.rank() == 0;
        RunState state = isFirst ? read(note) : RunState.START;
        ranks.broadcast(content.arrays(), 0);
        Map<String, HookTensor> own =
                isFirst && ranks.worldSize() > 1
                        ? Maps.transformValues(content.hooks().state(), HookTensor::of)
                        : Map.of();
        Resumed first =
                RankMessages.broadcast(ranks, Resumed.class, new Resumed(state.toMetadata(), own));
        if (isFirst) {
            return state;
        }
        content.hooks().restore(Maps.transformValues(first.hooks, HookTensor::tensor));
        return RunState.fromMetadata(Path.of("rank 0"), first.state);
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
                        .forEach(m -> note.accept(m + "; resuming from the previous state"));
                return state;
            } catch (SaccadeException e) {
                problems.add("%s", e);
            }
        }
        problems.throwIfAny(folder.path() + ": cannot be resumed");
        if (Files.exists(folder.bestWeights())) {
            throw SaccadeException.user(
                            "%s: the run has only its best weights, so it cannot be resumed; start"
                                    + " a new run with init_from",
                            folder.path())
                    .withSettings("init-from");
        }
        throw SaccadeException.user(
                "%s: the run has no checkpoint to resume from; start it again", folder.path());
    }

    private RunState restore(Path file, Checkpoint checkpoint, Consumer<String> note) {
        Map<String, String> metadata = checkpoint.metadata();
        requireSameRun(file, metadata);
        RunState saved = RunState.fromMetadata(file, metadata);
        RunState state = layout.translate(file, metadata, saved, note);
        Map<String, Tensor> trained = checkpoint.below(TRAINED);
        requireSameAverages(file, trained.keySet());
        Map<String, Tensor> weights = new LinkedHashMap<>(checkpoint.tensors());
        weights.keySet().removeIf(name -> NOT_WEIGHTS.stream().anyMatch(name::startsWith));
        weights.putAll(trained);
        Weights.restore(new Checkpoint(weights, Map.of()), content.model());
        copy(file, checkpoint, "", content.averages());
        copy(file, checkpoint, OPTIMIZER, content.optimizer().state());
        content.hooks().restore(checkpoint.below(HOOKS));
        provenance = provenance.flatMap(now -> now.continuing(metadata, file));
        if (provenance.isEmpty()) {
            note.accept(
                    file
                            + ": has no provenance, because an earlier version of Saccade started"
                            + " the run; the checkpoints of this run will have none");
        }
        return state;
    }

    private static void copy(
            Path file, Checkpoint checkpoint, String prefix, Map<String, NDArray> arrays) {
        arrays.forEach(
                (name, array) -> {
                    Tensor tensor = checkpoint.tensors().get(prefix + name);
                    if (tensor == null || !tensor.shape().equals(array.getShape())) {
                        throw SaccadeException.user(
                                "%s: %s is missing or has another shape; resume with the"
                                        + " optimizer and model of the run",
                                file, prefix + name);
                    }
                    tensor.copyTo(array);
                });
    }

    private void requireSameAverages(Path file, Set<String> names) {
        if (!names.equals(content.averages().keySet())) {
            throw SaccadeException.user(
                    "%s: has %s averaged weights, but the ema of this config has %s;"
                            + " resume with the ema of the run, or start a new run with init_from"
                            + " set to this file",
                    file, names.size(), content.averages().size());
        }
    }

    private void requireSameRun(Path file, Map<String, String> metadata) {
        identity.forEach(
                (key, value) -> {
                    if (!value.equals(metadata.get(key))) {
                        throw SaccadeException.user(
                                "%s: belongs to another run: %s; resume with the data,"
                                        + " seed and model of the run, or start a new run with"
                                        + " init_from set to this file",
                                file, changed(key));
                    }
                });
    }

    private static String changed(String key) {
        return switch (key) {
            case "run.data" -> "the images or labels of data.train have changed";
            case "run.seed" -> "the seed has changed";
            case ModelSpec.KEY -> "the model has changed";
            default -> key + " has changed";
        };
    }
}
