package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Affine;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Scales, rotates, shears and moves the image at random (mmdetection's {@code RandomAffine}).
 *
 * <p>Boxes become the upright boxes around their warped corners. Objects with masks, which
 * mmdetection does not support, get the tightest box around the warped mask. Objects outside the
 * image are dropped. Masks and label maps use the nearest pixel; label maps ignore pixels outside
 * the image.
 *
 * @param maxRotateDegree maximum rotation in degrees, in both directions
 * @param maxTranslateRatio maximum move relative to the width and height of the result
 * @param scalingRatioRange range of the scale
 * @param maxShearDegree maximum shear in degrees
 * @param border pixels added at the left and right, and at the top and bottom; negative numbers
 *     crop, such as [-320, -320] after a mosaic of 640x640
 * @param borderVal BGR color of pixels outside the image
 * @param center whether the center of the image is fixed, as in torchvision; otherwise its top left
 *     corner, as in mmdetection
 * @param prob probability of applying the transform
 */
@Component("random_affine")
public record RandomAffine(
        @Default("10") double maxRotateDegree,
        @Default("0.1") double maxTranslateRatio,
        @Default("[0.5, 1.5]") List<Double> scalingRatioRange,
        @Default("2") double maxShearDegree,
        @Default("[0, 0]") List<Integer> border,
        @Default("[114, 114, 114]") List<Integer> borderVal,
        @Default("false") boolean center,
        @Default("1") double prob)
        implements Transform {

    public RandomAffine {
        scalingRatioRange = List.copyOf(scalingRatioRange);
        border = List.copyOf(border);
        borderVal = List.copyOf(borderVal);
        new Checks()
                .inRange("max_rotate_degree", maxRotateDegree, 0, 180)
                .inRange("max_translate_ratio", maxTranslateRatio, 0, 1)
                .range("scaling_ratio_range", scalingRatioRange, 0.001, 1000)
                // At 45 degrees, shears in x and y can map the image to a line.
                .below("max_shear_degree", maxShearDegree, 0, 45)
                .each("border", border, 2, -InputSize.MAX_EDGE, InputSize.MAX_EDGE)
                .each("border_val", borderVal, 3, 0, 255)
                .inRange("prob", prob, 0, 1)
                .throwIfAny();
    }

    /**
     * Sampled parameters.
     *
     * @param degrees clockwise rotation
     * @param shearX shear of x in degrees; likewise {@code shearY}
     * @param moveX move to the right relative to the width of the result; likewise {@code moveY}
     */
    public record Parameters(
            double degrees,
            double scale,
            double shearX,
            double shearY,
            double moveX,
            double moveY) {}

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return Channels.colorIncompatibility("border_val", borderVal, pixels);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return random.nextDouble() < prob ? warp(sample, sampleParameters(random)) : sample;
    }

    private Parameters sampleParameters(SplittableRandom random) {
        return new Parameters(
                between(-maxRotateDegree, maxRotateDegree, random),
                between(scalingRatioRange.get(0), scalingRatioRange.get(1), random),
                between(-maxShearDegree, maxShearDegree, random),
                between(-maxShearDegree, maxShearDegree, random),
                between(-maxTranslateRatio, maxTranslateRatio, random),
                between(-maxTranslateRatio, maxTranslateRatio, random));
    }

    private static double between(double low, double high, SplittableRandom random) {
        return low + (high - low) * random.nextDouble();
    }

    @Override
    public ImageScale scale(ImageScale image) {
        double factor = scalingRatioRange.get(1);
        return prob < 1 && factor < 1
                ? image
                : new ImageScale(bordered(image.size()), image.factor() * factor);
    }

    private Size bordered(Size image) {
        Size size = new Size(image.height() + 2 * border.get(1), image.width() + 2 * border.get(0));
        if (size.height() < 1 || size.width() < 1) {
            throw SaccadeException.user(
                    "random_affine: border %s leaves no pixels of an image of %s; use a smaller"
                            + " border, or place mosaic before it",
                    border, image.widthFirst());
        }
        return size;
    }

    public Sample warp(Sample sample, Parameters params) {
        Size size = bordered(sample.info().size());
        // Rejects sizes that are too large before memory is allocated.
        ImageInfo info = sample.info().cropped(size);
        Affine map = map(sample.info().size(), size, params);
        Sample warped =
                sample.transform(
                        warp(sample.image(), map, size),
                        info,
                        boxes -> boxes.warp(map).clip(size),
                        mask -> mask.warp(map, size),
                        labels -> labels.warp(map, size));
        return warped.withTargets(warped.targets().visible());
    }

    private Affine map(Size image, Size size, Parameters params) {
        Affine around =
                Affine.shear(params.shearX, params.shearY)
                        .after(Affine.rotation(params.degrees))
                        .after(Affine.scaling(params.scale));
        double x = params.moveX * size.width();
        double y = params.moveY * size.height();
        if (!center) {
            return Affine.translation(x, y).after(around);
        }
        return Affine.translation(x + middle(size.width()), y + middle(size.height()))
                .after(around)
                .after(Affine.translation(-middle(image.width()), -middle(image.height())));
    }

    /** Returns the middle of an edge, in coordinates of pixel centers. */
    private static double middle(int edge) {
        return (edge - 1) / 2.0;
    }

    private Mat warp(Mat image, Affine map, Size size) {
        Mat matrix = new Mat(3, 3, CvType.CV_64F);
        matrix.put(0, 0, map.xx(), map.xy(), map.x0(), map.yx(), map.yy(), map.y0(), 0, 0, 1);
        Scalar outside = Channels.color(borderVal, image);
        Mat warped =
                Channels.apply(
                        image,
                        part -> {
                            Mat result = new Mat();
                            Imgproc.warpPerspective(
                                    part,
                                    result,
                                    matrix,
                                    new org.opencv.core.Size(size.width(), size.height()),
                                    Imgproc.INTER_LINEAR,
                                    Core.BORDER_CONSTANT,
                                    outside);
                            return result;
                        });
        matrix.release();
        return warped;
    }
}
