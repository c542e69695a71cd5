package dev.saccade.models.checkpoint;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.Module;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a checkpoint file holds.
 *
 * @param tensors tensors by name, in the order of the file
 * @param metadata what else there is to know, such as the classes; values are texts
 */
public record Checkpoint(Map<String, Tensor> tensors, Map<String, String> metadata) {

    /** Makes a checkpoint; keeps the order. */
    public Checkpoint {
        tensors = ImmutableMap.copyOf(tensors);
        metadata = ImmutableMap.copyOf(metadata);
    }

    /** Returns a copy of all parameters and buffers of a module. */
    public static Checkpoint of(Module module, Map<String, String> metadata) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        module.namedParameters()
                .forEach((name, value) -> tensors.put(name, Tensor.of(value.getArray())));
        return new Checkpoint(tensors, metadata);
    }
}
