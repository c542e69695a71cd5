/**
 * Layers as DJL blocks with PyTorch's dotted parameter names, so that official checkpoints load by
 * name. Channels are constructor arguments, as in PyTorch.
 *
 * <p>Memory: a layer does not modify its input, and the caller owns its output. All other arrays
 * that a {@code forward} creates are freed when it returns, so do not close them manually.
 */
package dev.saccade.core.nn;
