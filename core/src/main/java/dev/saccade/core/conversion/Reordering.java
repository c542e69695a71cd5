package dev.saccade.core.conversion;

import ai.djl.ndarray.NDArray;

import java.util.function.UnaryOperator;

/**
 * How the elements of a tensor of another library differ from ours in order or shape, where its
 * name is not all, such as by a transposition.
 *
 * <p>Both functions move elements, by operations such as {@code reshape} and {@code transpose}, and
 * do not look at them: they are given arrays of integers that tell where each element was.
 *
 * @param toOurs returns theirs in our order
 * @param toTheirs the way back
 */
public record Reordering(UnaryOperator<NDArray> toOurs, UnaryOperator<NDArray> toTheirs) {}
