package dev.saccade.checkpoint;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Content of a checkpoint file.
 *
 * @param tensors tensors by name, in the order of the file
 * @param metadata further information, such as the classes, as texts
 * @param notes what users should know about the choice of these tensors, such as averaged weights
 *     that the file also holds
 */
public record Checkpoint(
        Map<String, Tensor> tensors, Map<String, String> metadata, List<String> notes) {

    /** Makes a checkpoint; keeps the order. */
    public Checkpoint {
        tensors = ImmutableMap.copyOf(tensors);
        metadata = ImmutableMap.copyOf(metadata);
        notes = List.copyOf(notes);
    }

    /** Makes a checkpoint without notes; keeps the order. */
    public Checkpoint(Map<String, Tensor> tensors, Map<String, String> metadata) {
        this(tensors, metadata, List.of());
    }

    /** Returns other tensors with the metadata and notes of this checkpoint. */
    public Checkpoint with(Map<String, Tensor> others) {
        return new Checkpoint(others, metadata, notes);
    }

    /** Returns a copy of all parameters and buffers of a module. */
    public static Checkpoint of(Module module, Map<String, String> metadata) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        module.namedParameters()
                .forEach((name, value) -> tensors.put(name, Tensor.of(value.getArray())));
        return new Checkpoint(tensors, metadata);
    }

    /**
     * Returns the tensors of one part of a model, such as {@code backbone}, without its prefix.
     *
     * @throws SaccadeException of kind user that names the parts, if there is none of it
     */
    public Checkpoint part(String part) {
        Map<String, Tensor> found = below(part + ".");
        if (found.isEmpty()) {
            Set<String> parts = new TreeSet<>();
            tensors.keySet().forEach(name -> parts.add(name.replaceFirst("\\..*", "")));
            throw SaccadeException.user("the checkpoint has no %s, only %s", part, parts);
        }
        return with(found);
    }

    /** Returns the tensors whose names have a prefix, without it. */
    public Map<String, Tensor> below(String prefix) {
        Map<String, Tensor> found = new LinkedHashMap<>();
        tensors.forEach(
                (name, tensor) -> {
                    if (name.startsWith(prefix)) {
                        putNew(found, name.substring(prefix.length()), tensor);
                    }
                });
        return found;
    }

    /** Adds a tensor to others, none of which may have its name. */
    public static void putNew(Map<String, Tensor> tensors, String name, Tensor tensor) {
        if (tensors.put(name, tensor) != null) {
            throw SaccadeException.user(
                    "the checkpoint holds two tensors for %s, such as those of two models", name);
        }
    }
}
