package dev.saccade.core.structures;

import dev.saccade.core.SaccadeException;

/**
 * What happened to an image on its way into a batch; four facts that are easily mixed up.
 *
 * @param id the image id of the data set; 0 for a loose file
 * @param file the file the image came from, for messages
 * @param original the size of the decoded image ({@code ori_shape})
 * @param size the size after resizing and cropping, before padding ({@code img_shape})
 * @param padded the size after the padding of this image alone ({@code pad_shape}); the batch may
 *     be larger
 * @param scaleX new width over old width of the last resize, float32
 * @param scaleY new height over old height of the last resize, float32
 * @param flipped whether the image is mirrored left to right
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

    /** The most pixels of an image: twice what Pillow warns of; its limit against bombs. */
    public static final long MAX_PIXELS = 178_956_970;

    /**
     * Checks the size that there is to hold.
     *
     * @throws SaccadeException of kind user, if it has more than {@link #MAX_PIXELS}, and more than
     *     the original
     */
    public ImageInfo {
        if (padded.area() > Math.max(MAX_PIXELS, original.area())) {
            throw SaccadeException.user(
                    "%s: the transforms output an image of %s from one of %s, expected at most"
                            + " %d million pixels; resize or pad to a smaller size",
                    file, padded, original, MAX_PIXELS / 1_000_000);
        }
    }

    /** Returns the description of an image that is fed as it is. */
    public static ImageInfo of(Size size) {
        return of(0, "", size);
    }

    /** Returns the description of an image of a data set to which nothing has happened. */
    public static ImageInfo of(long id, String file, Size size) {
        return new ImageInfo(id, file, size, size, size, 1, 1, false);
    }

    /** Returns the description after cropping to a size. */
    public ImageInfo cropped(Size newSize) {
        return new ImageInfo(id, file, original, newSize, newSize, scaleX, scaleY, flipped);
    }

    /** Returns the description after resizing by factors; an earlier resize is forgotten. */
    public ImageInfo resized(Size newSize, float newScaleX, float newScaleY) {
        return new ImageInfo(id, file, original, newSize, newSize, newScaleX, newScaleY, flipped);
    }

    /** Returns the description after mirroring left to right. */
    public ImageInfo flipHorizontal() {
        return new ImageInfo(id, file, original, size, padded, scaleX, scaleY, !flipped);
    }

    /** Returns the description after padding bottom and right to a size. */
    public ImageInfo padded(Size newSize) {
        return new ImageInfo(id, file, original, size, newSize, scaleX, scaleY, flipped);
    }

    /** Returns boxes of the network input in the coordinates of the original image. */
    public Boxes toOriginal(Boxes boxes) {
        Boxes upright = flipped ? boxes.flipHorizontal(size.width()) : boxes;
        return upright.unscale(scaleX, scaleY);
    }

    /** Returns boxes of the original image in the coordinates of the network input. */
    public Boxes fromOriginal(Boxes boxes) {
        Boxes scaled = boxes.scale(scaleX, scaleY);
        return flipped ? scaled.flipHorizontal(size.width()) : scaled;
    }
}
