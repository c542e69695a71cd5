package dev.saccade.datasets;

import dev.saccade.core.parts.TargetKind;

/**
 * How thoroughly a data set is looked at, and for what.
 *
 * @param decode whether photographs are decoded; otherwise only their headers and ends are read
 * @param targets what is learned, and so must be there
 * @param threads how many files are read at once
 * @param onImage called after each image, from the calling thread, to show progress
 */
public record CheckOptions(boolean decode, TargetKind targets, int threads, Runnable onImage) {}
