/**
 * What a part says of the checkpoints that others wrote of it: their names for its tensors, tables
 * that are resized or computed, and what needs no place. All of it is data, which {@link
 * dev.saccade.core.parts.ModelPartConfig#checkpointRules()} hands to those who read and write
 * files.
 */
package dev.saccade.core.conversion;
