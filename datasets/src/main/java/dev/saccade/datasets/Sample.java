package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;

import java.nio.FloatBuffer;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * An image and its labels on the way through the transforms.
 *
 * <p>Owns a native image: the last owner of a sample closes it. {@link #with} passes the image on
 * to a new sample. {@link #write} normalizes and pads in one pass from bytes to floats.
 *
 * @param image {@code [H, W, 3]} BGR, uint8 (float32 in 0..255 after a color transform), neither
 *     normalized nor padded
 * @param info the changes of the image so far
 * @param targets objects in pixels of the image; masks, if any, of the padded size
 * @param labels the class of every pixel of the padded size, if pixels are labeled
 * @param normalization applied when the sample is written
 * @param rejected whether another image takes its place, see {@link Transform#needsOtherSamples}
 */
public record Sample(
        Mat image,
        ImageInfo info,
        Instances targets,
        Optional<LabelMap> labels,
        Optional<Normalization> normalization,
        boolean rejected)
        implements AutoCloseable {

    /** Returns a sample of labeled objects. */
    public static Sample of(Mat image, ImageInfo info, Instances targets) {
        return new Sample(image, info, targets, Optional.empty(), Optional.empty(), false);
    }

    /** Returns a sample of labeled pixels. */
    public static Sample of(Mat image, ImageInfo info, LabelMap labels) {
        return of(image, info, Instances.empty(), labels);
    }

    /** Returns a sample of labeled objects and pixels. */
    public static Sample of(Mat image, ImageInfo info, Instances targets, LabelMap labels) {
        return new Sample(image, info, targets, Optional.of(labels), Optional.empty(), false);
    }

    /**
     * Returns the sample after a geometric or color transform and frees the image of this one if
     * the new one has another. Labels stay as they are: a geometric transform moves them by {@link
     * #mapLabels}.
     *
     * @throws SaccadeException if this sample is normalized or padded already: both come last
     */
    public Sample with(Mat newImage, ImageInfo newInfo, Instances newTargets) {
        if (normalization.isPresent() || !info.padded().equals(info.size())) {
            throw SaccadeException.user(
                    "transforms: normalize and pad must come last, but another one follows them");
        }
        Sample changed = new Sample(newImage, newInfo, newTargets, labels, normalization, rejected);
        if (newImage != image) {
            image.release();
        }
        return changed;
    }

    /** Returns the sample with other targets; see {@link #with}. */
    public Sample withTargets(Instances newTargets) {
        return with(image, info, newTargets);
    }

    /**
     * Returns the sample after a geometric transform of the image, its boxes, masks and labels; see
     * {@link #with}.
     */
    public Sample transform(
            Mat newImage,
            ImageInfo newInfo,
            UnaryOperator<Boxes> boxes,
            UnaryOperator<Rle> masks,
            UnaryOperator<LabelMap> maps) {
        return with(newImage, newInfo, targets.mapBoxes(boxes).mapMasks(masks)).mapLabels(maps);
    }

    /** Returns this sample with its labels, if it has any, after a transform. */
    public Sample mapLabels(UnaryOperator<LabelMap> transform) {
        return new Sample(image, info, targets, labels.map(transform), normalization, rejected);
    }

    /** Returns another sample of the same pixels; each of the two is closed. */
    public Sample shallowCopy() {
        return new Sample(
                image.rowRange(0, image.rows()), info, targets, labels, normalization, rejected);
    }

    /** Returns this sample, to be normalized when it is written. */
    public Sample withNormalization(Normalization later) {
        return new Sample(image, info, targets, labels, Optional.of(later), rejected);
    }

    /**
     * Returns this sample, to be padded bottom and right when it is written; masks and labels are
     * padded now.
     *
     * @param size at least the size of the image
     */
    public Sample withPadding(Size size) {
        return new Sample(
                image,
                info.padded(size),
                targets.mapMasks(mask -> mask.pad(size)),
                labels.map(map -> map.pad(size)),
                normalization,
                rejected);
    }

    /**
     * Returns this sample, not to be learned from: no further transform sees it, and another
     * photograph takes its place, see {@link Transform#needsOtherSamples}.
     */
    public Sample reject() {
        return new Sample(image, info, targets, labels, normalization, true);
    }

    /**
     * Writes the pixels as RGB planes, normalized, with 0 right of and below the image.
     *
     * @param target [N, 3, H, W]
     * @param position which of the N
     * @param size H and W, at least those of the image
     */
    public void write(FloatBuffer target, int position, Size size) {
        normalization.orElse(Normalization.NONE).write(image, target, position, size);
    }

    /** Returns which of its parts are of another size than its info says, if some are. */
    Optional<String> mismatch() {
        Size pixels = new Size(image.rows(), image.cols());
        if (!pixels.equals(info.size())) {
            return Optional.of(
                    Text.format("gave an image of %s, but an info of %s", pixels, info.size()));
        }
        return Stream.concat(
                        targets.masks().stream().map(Rle::size),
                        labels.map(LabelMap::size).stream())
                .filter(size -> !size.equals(info.padded()))
                .findFirst()
                .map(
                        size ->
                                Text.format(
                                        "gave masks or labels of %s, but an info of %s",
                                        size, info.padded()));
    }

    /** Frees the image. */
    @Override
    public void close() {
        image.release();
    }
}
