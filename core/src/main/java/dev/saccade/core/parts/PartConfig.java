package dev.saccade.core.parts;

/**
 * The hyper-parameters of a component: a record whose components are the YAML keys (in snake case)
 * and whose no-argument constructor gives the defaults of the paper.
 *
 * <p>Records of this kind are found by {@link java.util.ServiceLoader}: to bring a component of
 * one's own, write one class with a nested record that implements {@link Backbone.Config}, {@link
 * Neck.Config} or {@link DetectionHead.Config}, and name the record in {@code META-INF/services}.
 * The canonical constructor checks the values and throws {@link IllegalArgumentException} with a
 * message that names the key.
 */
public interface PartConfig {

    /** Returns the name by which YAML selects this component, such as {@code resnet}. */
    String type();
}
