package dev.saccade.checkpoint;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whose names the tensors of a checkpoint have.
 *
 * <p>Saccade's are those of the official code of each backbone, and those of mmdetection for the
 * parts around it.
 */
public enum Naming {
    /** The official code of each backbone: Saccade's names, and its computed index tables. */
    OFFICIAL,
    /** The Swin Transformer within mmdetection, mmsegmentation and mmpretrain. */
    OPENMMLAB(NameTables.OPENMMLAB_SWIN),
    /** timm, of which Swin Transformer has other names. */
    TIMM(NameTables.TIMM_SWIN),
    /** torchvision's ResNet, RetinaNet and Swin Transformer. */
    TORCHVISION(
            NameTables.TORCHVISION_RETINANET,
            NameTables.TORCHVISION_SWIN,
            NameTables.TORCHVISION_RESNET);

    private final ImmutableList<NameTable> tables;

    Naming(NameTable... tables) {
        this.tables = ImmutableList.copyOf(tables);
    }

    /**
     * Returns a checkpoint under Saccade's names, whichever it has now.
     *
     * @throws SaccadeException of kind user, if two tensors would have one name
     */
    public static Checkpoint toSaccade(Checkpoint checkpoint) {
        Set<String> names = checkpoint.tensors().keySet();
        Optional<NameTable> theirs =
                Arrays.stream(values())
                        .flatMap(naming -> naming.tables.stream())
                        .filter(table -> table.isTheirs(names))
                        .findFirst();
        if (theirs.isEmpty()) {
            return checkpoint;
        }
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        checkpoint
                .tensors()
                .forEach(
                        (name, tensor) -> {
                            NameTable.Named ours = theirs.get().toOurs(name, tensor);
                            Checkpoint.putNew(tensors, ours.name(), ours.tensor());
                        });
        return new Checkpoint(tensors, checkpoint.metadata());
    }

    /**
     * Returns a checkpoint of Saccade's names under these, with the index tables that the Python
     * classes store beside their weights.
     *
     * @throws SaccadeException of kind user, if this naming knows no such model
     */
    public Checkpoint fromSaccade(Checkpoint checkpoint) {
        Checkpoint whole = IndexTables.addTo(checkpoint);
        if (tables.isEmpty()) {
            return whole;
        }
        NameTable table =
                tables.stream()
                        .filter(each -> each.isOurs(checkpoint.tensors().keySet()))
                        .findFirst()
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "%s has no names for this model; official ones"
                                                        + " are those of its own code",
                                                this));
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        whole.tensors()
                .forEach(
                        (name, tensor) ->
                                table.toTheirs(name, tensor)
                                        .ifPresent(
                                                theirs ->
                                                        tensors.put(
                                                                theirs.name(), theirs.tensor())));
        return new Checkpoint(tensors, checkpoint.metadata());
    }

    /** Returns the name as users write it, such as {@code openmmlab}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
