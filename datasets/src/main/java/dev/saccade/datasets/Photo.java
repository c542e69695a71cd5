package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.nio.file.Path;

/**
 * A photograph as its data set declares it; nothing has been decoded yet.
 *
 * @param id the image id of the data set
 * @param file where the pixels are
 * @param size the declared size
 */
public record Photo(long id, Path file, Size size) {}
