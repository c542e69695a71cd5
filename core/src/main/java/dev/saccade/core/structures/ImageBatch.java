package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import java.util.List;

/** Normalized images, {@code [N, 3, H, W]} float32 RGB, zero-padded at the bottom and right. */
public record ImageBatch(NDArray pixels, List<ImageInfo> images) {

    public ImageBatch {
        images = List.copyOf(images);
        checkArgument(
                pixels.getShape().get(0) == images.size(),
                "got %s images, but metadata of %s images",
                pixels.getShape().get(0),
                images.size());
    }

    public int size() {
        return images.size();
    }
}
