package dev.saccade.core.components;

/**
 * Settings of a component that a config selects by its {@code type}: a record with a {@link
 * Component} name. Its record components are the YAML keys, in snake case; a {@link Default} makes
 * a key optional.
 *
 * <p>To add a component, write a class with a nested record that implements an interface such as
 * {@link Backbone.Config}, and list the record in a {@link ComponentProvider}. Check the values in
 * the canonical constructor with {@link dev.saccade.core.Checks}, each number against two bounds.
 * Errors from these checks are reported with file, line and key, other exceptions for the whole
 * section.
 */
public interface ComponentConfig {

    /** Returns the name in YAML, such as {@code resnet}. */
    default String type() {
        Component component = getClass().getAnnotation(Component.class);
        if (component == null) {
            throw new IllegalStateException(getClass().getName() + ": has no @Component");
        }
        return component.value();
    }
}
