package dev.saccade.datasets.pillow;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Crops a random rectangle and resizes it (Szegedy et al. 2014), like timm's {@code
 * RandomResizedCropAndInterpolation} and torchvision's {@code RandomResizedCrop}.
 *
 * @param size height and width; if empty, the data's {@code image_size}, or [224, 224]
 * @param scale range of the area of the crop, relative to the image
 * @param ratio range of the width of the crop, relative to its height; log-uniform
 * @param reducedDecoding whether JPEGs are decoded at 1/2, 1/4 or 1/8 of their size if the crop is
 *     still at least as large as {@code size}, like Pillow's {@code draft}; faster, but pixels
 *     differ. Requires that this is the first transform.
 */
@Component("random_resized_crop")
public record RandomResizedCrop(
        @Default("[]") List<Integer> size,
        @Default("[0.08, 1]") List<Double> scale,
        @Default("[0.75, 1.3333333333333333]") List<Double> ratio,
        @Default("bicubic") Interpolation interpolation,
        @Default("false") boolean reducedDecoding)
        implements Transform {

    private static final int ATTEMPTS = 10;
    private static final int MAX_REDUCTION = 8;

    public RandomResizedCrop {
        size = List.copyOf(size);
        scale = List.copyOf(scale);
        ratio = List.copyOf(ratio);
        Checks checks =
                new Checks().range("scale", scale, 1e-6, 1).range("ratio", ratio, 1e-3, 1e3);
        if (!size.isEmpty()) {
            checks.each("size", size, 2, 1, InputSize.MAX_EDGE);
        }
        checks.throwIfAny();
    }

    /** A rectangle in pixels. */
    public record Crop(int top, int left, int height, int width) {}

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return PillowImage.incompatibility(type(), targets);
    }

    @Override
    public RandomResizedCrop withDefaultSize(InputSize input) {
        return size.isEmpty()
                ? new RandomResizedCrop(
                        input.classifierInput(), scale, ratio, interpolation, reducedDecoding)
                : this;
    }

    private Size target() {
        return new Size(size.get(0), size.get(1));
    }

    @Override
    public ImageScale scale(ImageScale image) {
        return image.resized(target());
    }

    @Override
    public boolean mustBeFirst() {
        return reducedDecoding;
    }

    @Override
    public int reduction(Size image, SplittableRandom random) {
        return reducedDecoding ? reduction(sample(image, random)) : 1;
    }

    private int reduction(Crop crop) {
        Size target = target();
        int most = Math.min(crop.width / target.width(), crop.height / target.height());
        return Integer.highestOneBit(Math.max(1, Math.min(most, MAX_REDUCTION)));
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        ImageInfo info = sample.info();
        Crop crop = sample(reducedDecoding ? info.original() : info.size(), random);
        return crop(sample, crop, interpolation.choose(random));
    }

    /** Returns a rectangle of the sample, resized. */
    public Sample crop(Sample sample, Crop crop, Interpolation filter) {
        Size target = target();
        boolean reduced = reducedDecoding && !sample.info().size().equals(sample.info().original());
        if (reduced) {
            return PillowImage.replace(sample, cropReduced(sample.image(), crop, target, filter));
        }
        Mat part =
                sample.image()
                        .submat(
                                crop.top,
                                crop.top + crop.height,
                                crop.left,
                                crop.left + crop.width);
        try {
            Mat resized = PillowResize.resize(part, target.height(), target.width(), filter);
            return PillowImage.replace(sample, resized);
        } finally {
            part.release();
        }
    }

    private PillowImage cropReduced(Mat image, Crop crop, Size target, Interpolation filter) {
        float factor = reduction(crop);
        float[] box = {
            crop.left / factor,
            crop.top / factor,
            (crop.left + crop.width) / factor,
            (crop.top + crop.height) / factor
        };
        return PillowResize.resize(image, box, target.height(), target.width(), filter);
    }

    private Crop sample(Size image, SplittableRandom random) {
        double area = (double) image.width() * image.height();
        double least = Math.log(ratio.get(0));
        double most = Math.log(ratio.get(1));
        for (int i = 0; i < ATTEMPTS; i++) {
            double target = area * between(scale.get(0), scale.get(1), random);
            double aspect = Math.exp(between(least, most, random));
            int width = (int) Math.rint(Math.sqrt(target * aspect));
            int height = (int) Math.rint(Math.sqrt(target / aspect));
            boolean fits = width <= image.width() && height <= image.height();
            if (fits && width > 0 && height > 0) {
                return new Crop(
                        random.nextInt(image.height() - height + 1),
                        random.nextInt(image.width() - width + 1),
                        height,
                        width);
            }
        }
        return center(image);
    }

    private static double between(double least, double most, SplittableRandom random) {
        return least + (most - least) * random.nextDouble();
    }

    /** Returns the largest centered rectangle with an allowed ratio. */
    private Crop center(Size image) {
        double aspect = (double) image.width() / image.height();
        int width = image.width();
        int height = image.height();
        if (aspect < ratio.get(0)) {
            height = Math.max(1, (int) Math.rint(width / ratio.get(0)));
        } else if (aspect > ratio.get(1)) {
            width = Math.max(1, (int) Math.rint(height * ratio.get(1)));
        }
        return new Crop((image.height() - height) / 2, (image.width() - width) / 2, height, width);
    }
}
