package dev.saccade.checkpoint.weights;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NameTable;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Naming scheme of the tensors of a checkpoint.
 *
 * <p>Saccade uses the names of the official code of each backbone and mmdetection's names for the
 * other components. The components define the names of other libraries.
 */
public final class Naming {

    private static final String OFFICIAL = "official";

    private static final String OFFICIAL_ONES =
            "official: the names of the backbone's own code, and mmdetection's for all around it";

    private final String library;
    private final CheckpointRules rules;

    private Naming(String library, CheckpointRules rules) {
        this.library = library;
        this.rules = rules;
    }

    /**
     * Returns the names of a library, one of {@link #libraries()} in any case.
     *
     * @throws SaccadeException of kind user, if no part has names of it
     */
    public static Naming of(String library) {
        String name = library.toLowerCase(Locale.ROOT);
        if (!libraries().contains(name)) {
            throw SaccadeException.user(
                    "names \"%s\": no part has such; expected one of %s; %s",
                    library, libraries(), OFFICIAL_ONES);
        }
        return new Naming(name, InstalledRules.all());
    }

    /** Returns the libraries that parts have names of, such as {@code timm}, and official names. */
    public static List<String> libraries() {
        Stream<String> others = InstalledRules.all().names().stream().map(NameTable::library);
        return Stream.concat(Stream.of(OFFICIAL), others.sorted()).distinct().toList();
    }

    /**
     * Returns a checkpoint with Saccade's names.
     *
     * @throws SaccadeException of kind user, if two tensors would have one name
     */
    public static Checkpoint toSaccade(Checkpoint checkpoint) {
        return toSaccade(checkpoint, InstalledRules.all());
    }

    static Checkpoint toSaccade(Checkpoint checkpoint, CheckpointRules rules) {
        return NameSearch.table(checkpoint.tensors().keySet(), rules)
                .map(found -> toSaccade(found.strip(checkpoint), found.table().orElseThrow()))
                .orElse(checkpoint);
    }

    static Checkpoint toSaccade(Checkpoint checkpoint, NameTable theirs) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        JoinedTensors joined = new JoinedTensors();
        for (Map.Entry<String, Tensor> entry : checkpoint.tensors().entrySet()) {
            NameTable.Renamed ours = theirs.toOurs(entry.getKey());
            Tensor reordered = reordered(entry.getKey(), entry.getValue(), ours);
            if (ours.part().isPresent()) {
                joined.add(entry.getKey(), reordered, ours);
            } else {
                Checkpoint.putNew(tensors, ours.name(), reordered);
            }
        }
        joined.tensors().forEach((name, tensor) -> Checkpoint.putNew(tensors, name, tensor));
        return checkpoint.with(tensors);
    }

    /**
     * Converts a checkpoint from Saccade's names to these, with the index tables that Python
     * classes store beside their weights.
     *
     * @throws SaccadeException of kind user, if this naming knows no such model
     */
    public Checkpoint fromSaccade(Checkpoint checkpoint) {
        Checkpoint whole = IndexTables.addTo(checkpoint, rules.indexes());
        if (library.equals(OFFICIAL)) {
            return whole;
        }
        NameTable table =
                rules.names().stream()
                        .filter(each -> each.library().equals(library))
                        .filter(each -> each.isOurs(checkpoint.tensors().keySet()))
                        .findFirst()
                        .orElseThrow(this::noNames);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Map.Entry<String, Tensor> entry : whole.tensors().entrySet()) {
            for (NameTable.Renamed theirs : table.toTheirs(entry.getKey())) {
                tensors.put(theirs.name(), reordered(entry.getKey(), entry.getValue(), theirs));
            }
        }
        return checkpoint.with(tensors);
    }

    private SaccadeException noNames() {
        return SaccadeException.user(
                "%s has no names for this model; expected %s", library, OFFICIAL_ONES);
    }

    private static Tensor reordered(String name, Tensor tensor, NameTable.Renamed renamed) {
        if (renamed.reorder().isEmpty()) {
            return tensor;
        }
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDArray places =
                    manager.arange(Math.toIntExact(tensor.elements())).reshape(tensor.shape());
            NDArray sources = renamed.reorder().get().apply(places);
            return tensor.gathered(sources.getShape(), sources.toIntArray());
        } catch (EngineException | IllegalArgumentException e) {
            throw SaccadeException.user(
                    e,
                    "%s: of shape %s, which its elements cannot have to be put in order as %s",
                    name,
                    tensor.shape(),
                    renamed.name());
        }
    }

    /** Returns the name as users write it, such as {@code openmmlab}. */
    @Override
    public String toString() {
        return library;
    }
}
