package dev.saccade.core.components;

/**
 * Settings of a component that a config selects by its {@code type}: a record with a {@link
 * Component} name. Its record components are the YAML keys, in snake case, each with its {@link
 * Default}.
 *
 * <p>To add a component, write a class with a nested record that implements its settings interface,
 * such as {@link Backbone.Config}, and list the record in a {@link ComponentProvider}. The
 * canonical constructor checks the values with {@link dev.saccade.core.Checks}, each number against
 * two bounds; errors are then reported with file, line and key. Other exceptions are reported for
 * the whole section.
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
