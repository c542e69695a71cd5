package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.PixelFormat;

import org.opencv.core.Mat;

import java.nio.FloatBuffer;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * An image and its labels while transforms are applied.
 *
 * <p>Owns a native image; the last owner of a sample closes it. {@link #with} passes the image on
 * to a new sample. {@link #write} normalizes and pads in one pass from bytes to floats.
 *
 * @param image {@code [H, W, 3]} BGR, uint8 (float32 in 0..255 after a color transform), or {@code
 *     [H, W, C]} float32 in 0..255 of another {@link PixelFormat}; neither normalized nor padded
 * @param info id, file and sizes of the image, and its scale and flip so far
 * @param targets objects in pixels of the image; masks, if any, have the padded size
 * @param labels label map of the padded size; empty unless label maps are trained
 * @param label class index of the image; empty unless classes of images are trained
 * @param normalization applied when the sample is written
 * @param rejected whether another image replaces this one, see {@link Transform#needsOtherSamples}
 */
public record Sample(
        Mat image,
        ImageInfo info,
        Instances targets,
        Optional<LabelMap> labels,
        OptionalInt label,
        Optional<Normalization> normalization,
        boolean rejected)
        implements AutoCloseable {

    public static Sample of(Mat image, ImageInfo info, Instances targets) {
        return new Sample(
                image,
                info,
                targets,
                Optional.empty(),
                OptionalInt.empty(),
                Optional.empty(),
                false);
    }

    public static Sample of(Mat image, ImageInfo info, LabelMap labels) {
        return of(image, info, Instances.empty(), labels);
    }

    public static Sample of(Mat image, ImageInfo info, Instances targets, LabelMap labels) {
        return new Sample(
                image,
                info,
                targets,
                Optional.of(labels),
                OptionalInt.empty(),
                Optional.empty(),
                false);
    }

    /** Creates a sample of an image with a class. */
    public static Sample of(Mat image, ImageInfo info, int label) {
        return new Sample(
                image,
                info,
                Instances.empty(),
                Optional.empty(),
                OptionalInt.of(label),
                Optional.empty(),
                false);
    }

    /**
     * Returns the sample after a geometric or color transform. Frees the old image if it was
     * replaced. Labels are kept; geometric transforms change them with {@link #mapLabels}.
     *
     * @throws SaccadeException if this sample is already normalized or padded; both must come last
     */
    public Sample with(Mat newImage, ImageInfo newInfo, Instances newTargets) {
        if (normalization.isPresent() || !info.padded().equals(info.size())) {
            throw SaccadeException.user(
                    "transforms: normalize and pad must come last; move the other transforms before"
                            + " them");
        }
        Sample changed =
                new Sample(newImage, newInfo, newTargets, labels, label, normalization, rejected);
        if (newImage != image) {
            image.release();
        }
        return changed;
    }

    public Sample withTargets(Instances newTargets) {
        return with(image, info, newTargets);
    }

    /** Applies a geometric transform to image, boxes, masks and labels; see {@link #with}. */
    public Sample transform(
            Mat newImage,
            ImageInfo newInfo,
            UnaryOperator<Boxes> boxes,
            UnaryOperator<Rle> masks,
            UnaryOperator<LabelMap> maps) {
        return with(newImage, newInfo, targets.mapBoxes(boxes).mapMasks(masks)).mapLabels(maps);
    }

    public Sample mapLabels(UnaryOperator<LabelMap> transform) {
        return new Sample(
                image, info, targets, labels.map(transform), label, normalization, rejected);
    }

    /** Returns another sample with the same pixels; both must be closed. */
    public Sample shallowCopy() {
        return new Sample(
                image.rowRange(0, image.rows()),
                info,
                targets,
                labels,
                label,
                normalization,
                rejected);
    }

    /** Returns the sample with a normalization, which {@link #write} applies. */
    public Sample withNormalization(Normalization later) {
        return new Sample(image, info, targets, labels, label, Optional.of(later), rejected);
    }

    /** Pads at the bottom and right: masks and label map now, the image in {@link #write}. */
    public Sample withPadding(Size size) {
        return new Sample(
                image,
                info.padded(size),
                targets.mapMasks(mask -> mask.pad(size)),
                labels.map(map -> map.pad(size)),
                label,
                normalization,
                rejected);
    }

    /** Marks this sample as rejected, to be replaced; see {@link Transform#needsOtherSamples}. */
    public Sample reject() {
        return new Sample(image, info, targets, labels, label, normalization, true);
    }

    /**
     * Writes the pixels as normalized planes, RGB if three, padded with 0 at the bottom and right.
     *
     * @param target [N, C, H, W]
     * @param position index into N
     * @param size H and W, at least the size of the image
     */
    public void write(FloatBuffer target, int position, Size size) {
        normalization
                .orElseGet(() -> Normalization.none(image.channels()))
                .write(image, target, position, size);
    }

    Optional<String> mismatch() {
        Size pixels = new Size(image.rows(), image.cols());
        if (!pixels.equals(info.size())) {
            return Optional.of(
                    Text.format(
                            "returned an image of %s, but its info has %s", pixels, info.size()));
        }
        return Stream.concat(
                        targets.masks().stream().map(Rle::size),
                        labels.map(LabelMap::size).stream())
                .filter(size -> !size.equals(info.padded()))
                .findFirst()
                .map(
                        size ->
                                Text.format(
                                        "returned masks or labels of %s, but its info has %s",
                                        size, info.padded()));
    }

    @Override
    public void close() {
        image.release();
    }
}
