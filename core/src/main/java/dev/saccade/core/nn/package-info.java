/**
 * Layers as DJL blocks whose parameters carry the dotted names of PyTorch, so that an official
 * checkpoint loads by name. Channels are given in the constructor, as in PyTorch; nothing waits for
 * a first input to learn its shape.
 */
package dev.saccade.core.nn;
