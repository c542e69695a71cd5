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
 * @param metadata further entries as text, such as class names
 * @param notes remarks for users, such as averaged weights that the file also contains
 */
public record Checkpoint(
        Map<String, Tensor> tensors, Map<String, String> metadata, List<String> notes) {

    public Checkpoint {
        tensors = ImmutableMap.copyOf(tensors);
        metadata = ImmutableMap.copyOf(metadata);
        notes = List.copyOf(notes);
    }

    public Checkpoint(Map<String, Tensor> tensors, Map<String, String> metadata) {
        this(tensors, metadata, List.of());
    }

    /** Returns this checkpoint with other tensors. */
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

    /** Returns the tensors of a component without its prefix; throws if there are none. */
    public Checkpoint part(String part) {
        Map<String, Tensor> found = below(part + ".");
        if (found.isEmpty()) {
            Set<String> parts = new TreeSet<>();
            tensors.keySet().forEach(name -> parts.add(name.replaceFirst("\\..*", "")));
            throw SaccadeException.user(
                    "the checkpoint has no component %s; expected one of %s", part, parts);
        }
        return with(found);
    }

    /** Returns the tensors whose names start with a prefix, with the prefix removed. */
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

    /** Adds a tensor; throws if the name exists. */
    public static void putNew(Map<String, Tensor> tensors, String name, Tensor tensor) {
        if (tensors.put(name, tensor) != null) {
            throw SaccadeException.user(
                    "the checkpoint has two tensors for %s, such as from two models; remove one",
                    name);
        }
    }
}
