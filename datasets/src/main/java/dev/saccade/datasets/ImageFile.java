package dev.saccade.datasets;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageHeader;

import java.nio.file.Path;

/** An image as declared by its data set, not decoded; {@code size} is the upright size. */
public record ImageFile(long id, Path file, Size size) {

    /** Creates an image, with the upright size read from the file; throws if unreadable. */
    public static ImageFile read(long id, Path file) {
        return new ImageFile(id, file, ImageHeader.read(file).size());
    }
}
