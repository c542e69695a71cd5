/**
 * Feature pyramids to losses, in training, or to objects or scores. A head never asks what made its
 * pyramid.
 *
 * <p>What is made in a forward pass or in a loss is freed by {@link
 * dev.saccade.core.ops.memory.Scope}; nothing is closed by hand.
 */
package dev.saccade.heads;
