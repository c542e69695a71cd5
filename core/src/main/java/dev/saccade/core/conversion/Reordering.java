package dev.saccade.core.conversion;

import ai.djl.ndarray.NDArray;

import java.util.function.UnaryOperator;

/**
 * Converts between another library's layout of a tensor and ours, for example by transposing. The
 * functions may only move elements, because they are also applied to integer indices.
 */
public record Reordering(UnaryOperator<NDArray> toOurs, UnaryOperator<NDArray> toTheirs) {}
