/** Matches the tensors of checkpoints with modules by name, shape and class. */
package dev.saccade.checkpoint.weights;
