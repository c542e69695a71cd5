package dev.saccade.core.parts;

import dev.saccade.core.Checks;

import java.util.Map;

/**
 * The hyper-parameters of a component: a record whose components are the YAML keys (in snake case)
 * and whose no-argument constructor gives the defaults of the paper.
 *
 * <p>Records of this kind are found by {@link java.util.ServiceLoader}: to bring a component of
 * one's own, write one class with a nested record that implements {@link Backbone.Config}, {@link
 * Neck.Config}, {@link DetectionHead.Config} or {@link SegmentationHead.Config}, and name the
 * record in {@code META-INF/services}. The canonical constructor checks the values by {@link
 * Checks}, every number on both sides, or throws another {@link IllegalArgumentException} with a
 * message that begins with the key.
 */
public interface PartConfig {

    /** Returns the name by which YAML selects this component, such as {@code resnet}. */
    String type();

    /**
     * Returns the published members of the family by the value of the key {@code variant}, the
     * smallest first; each is the set of defaults that the other keys then change. Empty for a
     * component without a key {@code variant}.
     */
    default Map<String, ? extends PartConfig> variants() {
        return Map.of();
    }
}
