/**
 * The contracts of the interchangeable parts. A component is one class with a nested {@code Config}
 * record; the record is what YAML names by its {@code type}, what carries the defaults (its
 * no-argument constructor) and what builds the component. A line in {@code META-INF/services} makes
 * it known.
 */
package dev.saccade.core.parts;
