package dev.saccade.datasets;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;

import org.opencv.core.Core;
import org.opencv.core.Mat;

import java.nio.FloatBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A photograph on its way through the transforms, with what it shows.
 *
 * <p>Owns native images: whoever ends up with a sample closes it. {@link #with} passes the images
 * on to a new sample. Normalising and padding are only noted here and carried out by {@link
 * #write}, in one pass from bytes to floats.
 */
public final class Sample implements AutoCloseable {

    private final Mat image;
    private final ImageInfo info;
    private final Instances targets;
    private final List<Mat> masks;
    private final Optional<Normalization> normalization;

    private Sample(
            Mat image,
            ImageInfo info,
            Instances targets,
            List<Mat> masks,
            Optional<Normalization> normalization) {
        checkArgument(
                masks.isEmpty() || masks.size() == targets.size(),
                "%s masks for %s objects",
                masks.size(),
                targets.size());
        this.image = image;
        this.info = info;
        this.targets = targets;
        this.masks = List.copyOf(masks);
        this.normalization = normalization;
    }

    /**
     * Returns a sample without masks that owns its image.
     *
     * @param image [H, W, 3] BGR, uint8 (or float32 in 0..255 after a colour transform)
     */
    public static Sample of(Mat image, ImageInfo info, Instances targets) {
        return new Sample(image, info, targets, List.of(), Optional.empty());
    }

    /**
     * Returns this sample with masks, which it owns from now on.
     *
     * @param bitmaps [H, W] uint8 of 0 and 1, one an object
     */
    public Sample withMasks(List<Mat> bitmaps) {
        return new Sample(image, info, targets, bitmaps, normalization);
    }

    /**
     * Returns the sample after a geometric or colour transform and frees what this one held and the
     * new one does not.
     *
     * @throws SaccadeException if this sample is normalised or padded already: both come last
     */
    public Sample with(Mat newImage, ImageInfo newInfo, Instances newTargets, List<Mat> newMasks) {
        if (normalization.isPresent() || !info.padded().equals(info.size())) {
            throw SaccadeException.user(
                    "transforms: normalize and pad must come last, but another one follows them");
        }
        Sample changed = new Sample(newImage, newInfo, newTargets, newMasks, normalization);
        release(changed);
        return changed;
    }

    /** Returns this sample, to be normalised when it is written. */
    public Sample withNormalization(Normalization later) {
        return new Sample(image, info, targets, masks, Optional.of(later));
    }

    /**
     * Returns this sample, to be padded bottom and right when it is written; masks are padded now.
     *
     * @param size at least the size of the image
     */
    public Sample withPadding(Size size) {
        return new Sample(image, info.padded(size), targets, pad(size), normalization);
    }

    private List<Mat> pad(Size size) {
        int bottom = size.height() - info.padded().height();
        int right = size.width() - info.padded().width();
        if (bottom == 0 && right == 0) {
            return masks;
        }
        return masks.stream()
                .map(
                        mask -> {
                            Mat padded = new Mat();
                            Core.copyMakeBorder(
                                    mask, padded, 0, bottom, 0, right, Core.BORDER_CONSTANT);
                            mask.release();
                            return padded;
                        })
                .toList();
    }

    /** Returns the image, [H, W, 3] BGR, uint8 or float32, neither normalised nor padded. */
    public Mat image() {
        return image;
    }

    /** Returns what has happened to the image so far. */
    public ImageInfo info() {
        return info;
    }

    /** Returns the objects in the coordinates of the image as it is now. */
    public Instances targets() {
        return targets;
    }

    /** Returns one bitmap an object ([H, W] uint8 of 0 and 1), or none if none were asked for. */
    public List<Mat> masks() {
        return masks;
    }

    /**
     * Writes the pixels as RGB planes, normalised, with 0 right of and below the image.
     *
     * @param target [N, 3, H, W]
     * @param position which of the N
     * @param size H and W, at least those of the image
     */
    public void write(FloatBuffer target, int position, Size size) {
        normalization.orElse(Normalization.NONE).write(image, target, position, size);
    }

    /** Frees the images. */
    @Override
    public void close() {
        image.release();
        masks.forEach(Mat::release);
    }

    private void release(Sample successor) {
        if (successor.image != image) {
            image.release();
        }
        for (Mat mask : masks) {
            if (!successor.masks.contains(mask)) {
                mask.release();
            }
        }
    }
}
