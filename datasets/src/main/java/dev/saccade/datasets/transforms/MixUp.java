package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SamplePool;
import dev.saccade.datasets.Transform;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Rect;
import org.opencv.core.Scalar;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Averages the image with another image of the data set and keeps the objects of both (YOLOX;
 * mmdetection's {@code MixUp}).
 *
 * <p>Preceding transforms are not applied to the other image. It is resized to fit {@code
 * img_scale}, padded, resized by a random ratio, flipped at random, and cropped or padded to the
 * size of the image.
 *
 * @param imgScale width and height in pixels that the other image is resized to fit
 * @param ratioRange range of the random ratio
 * @param flipRatio probability of flipping the other image; mmdetection flips if a random number
 *     exceeds it
 * @param padVal gray level of the padding
 * @param maxIters samples up to this number of images to find one with objects
 * @param prob probability of applying the transform
 */
@Component("mixup")
public record MixUp(
        @Default("[640, 640]") List<Integer> imgScale,
        @Default("[0.5, 1.5]") List<Double> ratioRange,
        @Default("0.5") double flipRatio,
        @Default("114") int padVal,
        @Default("15") int maxIters,
        @Default("1") double prob)
        implements Transform {

    public MixUp {
        imgScale = List.copyOf(imgScale);
        ratioRange = List.copyOf(ratioRange);
        new Checks()
                .each("img_scale", imgScale, 2, 1, InputSize.MAX_EDGE)
                .range("ratio_range", ratioRange, 0.001, 1000)
                .inRange("flip_ratio", flipRatio, 0, 1)
                .inRange("pad_val", padVal, 0, 255)
                .inRange("max_iters", maxIters, 1, 1000)
                .inRange("prob", prob, 0, 1)
                .throwIfAny();
    }

    /**
     * Sampled parameters.
     *
     * @param ratio factor of the other image
     * @param flip whether to flip the other image horizontally
     * @param left first column of the other image, padded, that is used; likewise row {@code top}
     */
    public record Parameters(double ratio, boolean flip, int left, int top) {}

    @Override
    public boolean needsOtherSamples() {
        return true;
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return targets.hasLabelMaps()
                ? Optional.of(
                        "mixup: averages two images, but each pixel of a label map has one class;"
                                + " remove it")
                : Optional.empty();
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return apply(sample, SamplePool.NONE, random);
    }

    @Override
    public Sample apply(Sample sample, SamplePool others, SplittableRandom random) {
        if (random.nextDouble() >= prob) {
            return sample;
        }
        try (Sample other = sampleWithObjects(others.untransformed(), random)) {
            return other.targets().size() == 0 && other.targets().ignored().isEmpty()
                    ? sample
                    : mix(sample, other, sampleParameters(sample.info().size(), random));
        }
    }

    private Sample sampleWithObjects(SamplePool others, SplittableRandom random) {
        Sample other = others.sample(random);
        for (int i = 1; i < maxIters && other.targets().size() == 0; i++) {
            other.close();
            other = others.sample(random);
        }
        return other;
    }

    private Parameters sampleParameters(Size image, SplittableRandom random) {
        double low = ratioRange.get(0);
        double ratio = low + (ratioRange.get(1) - low) * random.nextDouble();
        boolean flip = random.nextDouble() < flipRatio;
        Size frame = frame(ratio);
        int top = sampleOffset(frame.height() - image.height(), random);
        return new Parameters(
                ratio, flip, sampleOffset(frame.width() - image.width(), random), top);
    }

    private static int sampleOffset(int excess, SplittableRandom random) {
        return excess > 0 ? random.nextInt(excess) : 0;
    }

    private Size scale() {
        return new Size(imgScale.get(1), imgScale.get(0));
    }

    /** Returns the size of the padded other image after resizing by a ratio. */
    private Size frame(double ratio) {
        return Fit.size(scale(), ratio);
    }

    /** Averages a sample and another one, which is not changed. */
    public Sample mix(Sample sample, Sample other, Parameters params) {
        Size size = sample.info().size();
        Size frame = frame(params.ratio);
        // Rejects sizes that are too large before memory is allocated.
        sample.info().cropped(scale());
        sample.info().cropped(frame);
        Size source = other.info().size();
        double ratio = Fit.ratio(source, imgScale);
        Size fitted = Fit.size(source, ratio);
        float factor = (float) (ratio * params.ratio);
        Instances added =
                other.targets()
                        .mapBoxes(boxes -> place(boxes.scale(factor, factor), frame, size, params))
                        .mapMasks(
                                mask ->
                                        place(
                                                mask.resize(fitted).pad(scale()),
                                                frame,
                                                size,
                                                params));
        Instances all = Instances.concat(List.of(sample.targets(), added)).visible();
        Mat placed = place(other.image(), fitted, frame, size, params);
        Mat mixed = average(sample.image(), placed);
        placed.release();
        return sample.with(mixed, sample.info(), all);
    }

    private static Boxes place(Boxes scaled, Size frame, Size size, Parameters params) {
        Boxes inside = scaled.clip(frame);
        return (params.flip ? inside.flipHorizontal(frame.width()) : inside)
                .translate(-params.left, -params.top)
                .clip(size);
    }

    private static Rle place(Rle padded, Size frame, Size size, Parameters params) {
        Rle resized = padded.resize(frame);
        return (params.flip ? resized.flipHorizontal() : resized)
                .pad(frame.union(size))
                .crop(params.top, params.left, size);
    }

    /** Returns the other image at its place in an image of the given size. */
    private Mat place(Mat image, Size fitted, Size frame, Size size, Parameters params) {
        Mat padded = pad(Fit.resize(image, fitted), scale());
        Mat framed = Fit.resize(padded, frame);
        padded.release();
        if (params.flip) {
            Core.flip(framed, framed, 1);
        }
        int width = Math.min(size.width(), frame.width() - params.left);
        int height = Math.min(size.height(), frame.height() - params.top);
        Mat part = framed.submat(new Rect(params.left, params.top, width, height));
        framed.release();
        return pad(part, size);
    }

    /** Pads the bottom and right of an image and releases it. */
    private Mat pad(Mat image, Size size) {
        Mat padded = new Mat();
        Core.copyMakeBorder(
                image,
                padded,
                0,
                size.height() - image.rows(),
                0,
                size.width() - image.cols(),
                Core.BORDER_CONSTANT | Core.BORDER_ISOLATED,
                Scalar.all(padVal));
        image.release();
        return padded;
    }

    /** Returns the mean in the type of the first image; bytes round down as in mmdetection. */
    private static Mat average(Mat image, Mat other) {
        Mat mean = new Mat();
        other.convertTo(mean, image.type());
        double rounding = image.depth() == CvType.CV_8U ? -0.25 : 0;
        Core.addWeighted(image, 0.5, mean, 0.5, rounding, mean);
        return mean;
    }
}
