package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageHeader;

import java.nio.file.Path;

/**
 * A photograph as its data set declares it; nothing has been decoded yet.
 *
 * @param id the image id, unique in the data set
 * @param file where the pixels are
 * @param size the declared size, turned upright
 */
public record ImageFile(long id, Path file, Size size) {

    /**
     * Returns a photograph of the size that the header of its file says, turned upright.
     *
     * @throws SaccadeException if the file is missing or no image of a kind that is read
     */
    public static ImageFile read(long id, Path file) {
        return new ImageFile(id, file, ImageHeader.read(file).size());
    }
}
