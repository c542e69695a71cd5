/**
 * Interfaces of model components. A component is a class with a nested {@code Config} record, which
 * defines its YAML {@code type}, settings and defaults, and creates the component. A {@link
 * dev.saccade.core.components.ComponentProvider} registers components.
 */
package dev.saccade.core.components;
