package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import java.util.List;

/**
 * Normalized images of one forward pass.
 *
 * @param pixels {@code [N, 3, H, W]} float32, RGB, padded bottom and right with 0
 * @param images what happened to each of the N images
 */
public record ImageBatch(NDArray pixels, List<ImageInfo> images) {

    /** Checks that there is one description an image. */
    public ImageBatch {
        images = List.copyOf(images);
        checkArgument(
                pixels.getShape().get(0) == images.size(),
                "%s images but %s descriptions",
                pixels.getShape().get(0),
                images.size());
    }

    /** Returns the number of images. */
    public int size() {
        return images.size();
    }
}
