/**
 * A custom component of each type: a class, an entry in {@link CustomComponents} and a YAML key.
 */
package dev.saccade.examples.components;
