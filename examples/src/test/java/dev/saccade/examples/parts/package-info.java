/** A custom component of each type: a class, an entry in {@link CustomParts} and a YAML key. */
package dev.saccade.examples.parts;
