package dev.saccade.core.structures;

import dev.saccade.core.SaccadeException;

/**
 * Metadata of a preprocessed image, like mmdetection's {@code img_metas}.
 *
 * @param id image id in the data set; 0 for a single file
 * @param original size of the decoded image ({@code ori_shape})
 * @param size size after resizing and cropping, before padding ({@code img_shape})
 * @param padded size after padding this image ({@code pad_shape}); the batch may be larger
 * @param scaleX width ratio of the last resize, float32; likewise {@code scaleY}
 * @param flipped whether the image is flipped horizontally
 */
public record ImageInfo(
        long id,
        String file,
        Size original,
        Size size,
        Size padded,
        float scaleX,
        float scaleY,
        boolean flipped) {

    /** Maximum number of pixels: twice Pillow's warning limit for decompression bombs. */
    public static final long MAX_PIXELS = 178_956_970;

    /** Rejects padded sizes above both {@link #MAX_PIXELS} and the size of the original. */
    public ImageInfo {
        if (padded.area() > Math.max(MAX_PIXELS, original.area())) {
            throw SaccadeException.user(
                    "%s: the transforms output an image of %s from an image of %s, expected at"
                            + " most %d million pixels; resize or pad to a smaller size",
                    file, padded, original, MAX_PIXELS / 1_000_000);
        }
    }

    /** Returns the metadata of an image that is not transformed. */
    public static ImageInfo of(Size size) {
        return of(0, "", size);
    }

    /** Returns the metadata of a data set image before any transform. */
    public static ImageInfo of(long id, String file, Size size) {
        return new ImageInfo(id, file, size, size, size, 1, 1, false);
    }

    public ImageInfo cropped(Size newSize) {
        return new ImageInfo(id, file, original, newSize, newSize, scaleX, scaleY, flipped);
    }

    /** Returns the metadata after resizing by factors, which replace earlier factors. */
    public ImageInfo resized(Size newSize, float newScaleX, float newScaleY) {
        return new ImageInfo(id, file, original, newSize, newSize, newScaleX, newScaleY, flipped);
    }

    public ImageInfo flipHorizontal() {
        return new ImageInfo(id, file, original, size, padded, scaleX, scaleY, !flipped);
    }

    /** Returns the metadata after padding the bottom and right. */
    public ImageInfo padded(Size newSize) {
        return new ImageInfo(id, file, original, size, newSize, scaleX, scaleY, flipped);
    }

    /** Converts boxes from the network input to the original image; does not undo crops. */
    public Boxes toOriginal(Boxes boxes) {
        Boxes upright = flipped ? boxes.flipHorizontal(size.width()) : boxes;
        return upright.unscale(scaleX, scaleY);
    }

    /** Converts boxes from the original image to the network input. */
    public Boxes fromOriginal(Boxes boxes) {
        Boxes scaled = boxes.scale(scaleX, scaleY);
        return flipped ? scaled.flipHorizontal(size.width()) : scaled;
    }
}
