package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Crops the image at random, like mmdetection's {@code RandomCrop}.
 *
 * <p>Boxes are moved and clipped; objects without area are dropped.
 *
 * <p>For label maps, crops dominated by one class can be sampled again, like mmsegmentation's
 * {@code RandomCrop}.
 *
 * @param mode meaning of {@code size}
 * @param size two numbers, in pixels or fractions of the image, depending on the mode; larger crops
 *     are limited to the image. If empty, the data's {@code crop_size}, or {@code image_size} with
 *     that mode
 * @param catMaxRatio if below 1, samples again, at most 10 times, while one class covers at least
 *     this fraction of the pixels with a class, or all pixels are ignored
 * @param recomputeBbox whether boxes of objects with masks become the tightest around the cropped
 *     masks; drops objects without pixels
 * @param allowNegativeCrop whether crops without objects or crowds are trained on as background;
 *     otherwise another image replaces them. No effect on images with a label map
 */
@Component("random_crop")
public record RandomCrop(
        @Default("absolute_range") Mode mode,
        @Default("[]") List<Double> size,
        @Default("1") double catMaxRatio,
        @Default("false") boolean recomputeBbox,
        @Default("true") boolean allowNegativeCrop)
        implements Transform {

    private static final int MAX_RETRIES = 10;

    public enum Mode {
        /** Height and width in pixels. */
        ABSOLUTE(false),
        /** Minimum and maximum edge; height and width are sampled independently, inclusive. */
        ABSOLUTE_RANGE(false),
        /** Height and width as fractions of the image, in (0, 1]. */
        RELATIVE(true),
        /** Minimum fractions of height and width, sampled up to 1. */
        RELATIVE_RANGE(true),
        /** Two edges in pixels, the longer one along the longer edge of the image. */
        IMAGE_SIZE(false);

        private final boolean isFraction;

        Mode(boolean isFraction) {
            this.isFraction = isFraction;
        }
    }

    public RandomCrop {
        size = List.copyOf(size);
        double least = mode.isFraction ? 0.001 : 1;
        double most = mode.isFraction ? 1 : InputSize.MAX_EDGE;
        Checks checks = new Checks().above("cat_max_ratio", catMaxRatio, 0, 1);
        if (mode == Mode.ABSOLUTE_RANGE && !size.isEmpty()) {
            checks.range("size", size, least, most);
        } else if (!size.isEmpty()) {
            checks.each("size", size, 2, least, most);
        }
        checks.throwIfAny();
        Checks.require(
                mode.isFraction || size.stream().allMatch(edge -> edge == Math.rint(edge)),
                "size",
                size,
                "whole pixels");
    }

    @Override
    public RandomCrop withDefaultSize(InputSize input) {
        Optional<List<Integer>> inherited =
                mode == Mode.IMAGE_SIZE ? input.imageSize() : input.cropSize();
        List<Double> own =
                size.isEmpty() && !mode.isFraction
                        ? inherited.orElse(List.of()).stream().map(Integer::doubleValue).toList()
                        : size;
        RandomCrop sized = new RandomCrop(mode, own, catMaxRatio, recomputeBbox, allowNegativeCrop);
        sized.requireSize();
        return sized;
    }

    private void requireSize() {
        if (size.isEmpty()) {
            throw SaccadeException.user(
                    "random_crop: size is missing; set %s",
                    switch (mode) {
                        case RELATIVE, RELATIVE_RANGE ->
                                "fractions of the image height and width, such as [0.5, 0.5]";
                        case IMAGE_SIZE -> "data.image_size in pixels, such as [640, 480]";
                        case ABSOLUTE, ABSOLUTE_RANGE ->
                                "it or data.crop_size in pixels, such as [512, 512]";
                    });
        }
    }

    @Override
    public boolean needsOtherSamples() {
        return !allowNegativeCrop;
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        requireSize();
        Size image = sample.info().size();
        Size part = sample(image, random);
        int top;
        int left;
        int retries = 0;
        do {
            top = random.nextInt(image.height() - part.height() + 1);
            left = random.nextInt(image.width() - part.width() + 1);
        } while (!isVaried(sample, top, left, part) && retries++ < MAX_RETRIES);
        return cut(sample, top, left, part);
    }

    @Override
    public ImageScale scale(ImageScale image) {
        requireSize();
        Size whole = image.size();
        Size part =
                switch (mode) {
                    case ABSOLUTE, RELATIVE, IMAGE_SIZE -> sample(whole, new SplittableRandom(0));
                    case ABSOLUTE_RANGE ->
                            new Size(edge(whole.height(), 1), edge(whole.width(), 1));
                    case RELATIVE_RANGE -> whole;
                };
        return new ImageScale(part, image.factor());
    }

    private boolean isVaried(Sample sample, int top, int left, Size part) {
        return catMaxRatio == 1
                || sample.labels().isEmpty()
                || sample.labels().get().crop(top, left, part).maxClassRatio() < catMaxRatio;
    }

    private Size sample(Size image, SplittableRandom random) {
        return switch (mode) {
            case ABSOLUTE -> new Size(edge(image.height(), 0), edge(image.width(), 1));
            case ABSOLUTE_RANGE ->
                    new Size(sampleEdge(image.height(), random), sampleEdge(image.width(), random));
            case RELATIVE ->
                    new Size(scaledEdge(image.height(), 0, 0), scaledEdge(image.width(), 1, 0));
            case RELATIVE_RANGE ->
                    new Size(
                            scaledEdge(image.height(), 0, random.nextDouble()),
                            scaledEdge(image.width(), 1, random.nextDouble()));
            case IMAGE_SIZE -> {
                boolean isFirstLonger = size.get(0) >= size.get(1);
                int heightAxis = isFirstLonger == (image.height() >= image.width()) ? 0 : 1;
                yield new Size(
                        edge(image.height(), heightAxis), edge(image.width(), 1 - heightAxis));
            }
        };
    }

    private int sampleEdge(int edge, SplittableRandom random) {
        return random.nextInt(edge(edge, 0), edge(edge, 1) + 1);
    }

    private int edge(int edge, int axis) {
        return (int) Math.min(edge, size.get(axis));
    }

    /** Returns a side between its minimum, if {@code between} is 0, and {@code edge}, if 1. */
    private int scaledEdge(int edge, int axis, double between) {
        double least = size.get(axis);
        return Math.max(1, (int) (edge * (least + between * (1 - least)) + 0.5));
    }

    /** Crops at a position; applies {@code recomputeBbox} and {@code allowNegativeCrop}. */
    public Sample cut(Sample sample, int top, int left, Size part) {
        Sample cropped = crop(sample, top, left, part);
        boolean isNegative =
                cropped.labels().isEmpty()
                        && cropped.targets().size() == 0
                        && cropped.targets().ignored().isEmpty();
        if (isNegative && !allowNegativeCrop) {
            return cropped.reject();
        }
        return recomputeBbox && cropped.targets().hasMasks()
                ? cropped.withTargets(cropped.targets().boxesFromMasks())
                : cropped;
    }

    public static Sample crop(Sample sample, int top, int left, Size part) {
        Mat view = sample.image().submat(new Rect(left, top, part.width(), part.height()));
        // Copy to free the memory of the whole image.
        Mat copy = view.clone();
        view.release();
        Sample cropped =
                sample.transform(
                        copy,
                        sample.info().cropped(part),
                        boxes -> boxes.translate(-left, -top).clip(part),
                        mask -> mask.crop(top, left, part),
                        map -> map.crop(top, left, part));
        return cropped.withTargets(cropped.targets().withArea());
    }
}
