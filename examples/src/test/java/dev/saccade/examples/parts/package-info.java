/**
 * One part of every kind as others bring it: a class, a line in {@link OwnParts}, a key of YAML.
 */
package dev.saccade.examples.parts;
