/**
 * Layers as DJL blocks whose parameters carry the dotted names of PyTorch, so that an official
 * checkpoint loads by name. Channels are given in the constructor, as in PyTorch; nothing waits for
 * a first input to learn its shape.
 *
 * <p>Memory: a layer leaves its input alone, and what it returns is the caller's. All else that a
 * {@code forward} makes is freed when it ends, as its body stands in a {@link
 * dev.saccade.core.ops.memory.Scope}; a layer of a single operation needs none. Many layers one
 * behind another, such as the blocks of a stage, are a {@link
 * dev.saccade.core.ops.memory.Scope#chain}, which holds the output of one of them at a time.
 * Nothing in a {@code forward} is closed by hand.
 */
package dev.saccade.core.nn;
