/**
 * The contracts of the interchangeable parts. A component is one class with a nested {@code Config}
 * record; the record is what YAML names by its {@code type}, what carries the defaults, each beside
 * its setting, and what builds the component. A {@link dev.saccade.core.parts.PartProvider} makes
 * it known.
 */
package dev.saccade.core.parts;
