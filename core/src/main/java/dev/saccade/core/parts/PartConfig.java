package dev.saccade.core.parts;

/**
 * The settings of a component that a config chooses by its {@code type}: a record that is named by
 * {@link Part}, whose components are the YAML keys (in snake case), each with its {@link Default}.
 *
 * <p>To bring a component of one's own, write one class with a nested record that implements the
 * kind, such as {@link Backbone.Config}, and list it in a {@link PartProvider}. The canonical
 * constructor checks the values by {@link dev.saccade.core.Checks}, every number on both sides, or
 * throws another {@link IllegalArgumentException} with a message that begins with the key.
 */
public interface PartConfig {

    /** Returns the name by which YAML selects this component, such as {@code resnet}. */
    default String type() {
        Part part = getClass().getAnnotation(Part.class);
        if (part == null) {
            throw new IllegalStateException(getClass().getName() + ": has no @Part");
        }
        return part.value();
    }
}
